require("./pawl-worker.js").serve((event) => {
  console.log("asked about", event.call);
  if (/rm -rf/.test(event.input?.command)) return { verdict: "refuse", reason: "whole trees stay" };
});
