// Lets a hook written in JavaScript stay alive between events (keep = true), or answer just one.
//
//   require("./pawl-worker.js").serve(check)
//
// where check, which may be async, takes an event and returns an answer, or nothing to pass.
exports.serve = async (check) => {
  console.log = console.info = console.error; // what a check prints is for people
  const say = (line) => process.stdout.write(line + "\n");
  const kept = "PAWL_WORKER" in process.env;
  if (kept) say('{"pawl":"worker","version":1,"echo":true}');
  let rest = "";
  process.stdin.setEncoding("utf8");
  for await (const chunk of process.stdin) {
    const lines = (rest + chunk).split("\n"); // readline would split at U+2028 too
    rest = lines.pop();
    for (const line of lines) {
      const at = kept ? line.indexOf(" ") + 1 : 0; // the event, behind its mark
      say(line.slice(0, at) + JSON.stringify((await check(JSON.parse(line.slice(at)))) || {}));
    }
  }
};
