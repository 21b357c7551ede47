import { expect, test } from '@jest/globals';
import { behaviourOf } from '../../../cri/simulated/command.ts';

const sh = (script: string) => ['/bin/sh', '-c', script];

test.each([
  [['true'], { exitAfterMs: 0, exitCode: 0 }],
  [['/bin/false'], { exitAfterMs: 0, exitCode: 1 }],
  [['busybox', 'sleep', '2'], { exitAfterMs: 2000, exitCode: 0 }],
  [['sleep', '1m', '0.5'], { exitAfterMs: 60_500, exitCode: 0 }],
  [['sleep', 'infinity'], {}],
  [['httpd', '-f'], {}],
  [sh('exit 3'), { exitAfterMs: 0, exitCode: 3 }],
  [sh('sleep 5; exit 2'), { exitAfterMs: 5000, exitCode: 2 }],
  [sh('echo one && sleep 1 && false'), { exitAfterMs: 1000, exitCode: 1 }],
  [sh('false && sleep 9 || exit 4'), { exitAfterMs: 0, exitCode: 4 }],
  [sh('false; true'), { exitAfterMs: 0, exitCode: 0 }],
  [sh('echo "a; exit 9" > /tmp/x\nsleep 1'), { exitAfterMs: 1000, exitCode: 0 }],
  [sh('sleep 1; exec sleep 2'), { exitAfterMs: 3000, exitCode: 0 }],
  [sh('while true; do date; sleep 1; done'), {}],
  [sh("trap 'exit 0' TERM; sleep 1000 & wait"), { exitAfterMs: 1_000_000, exitCode: 0, termExitCode: 0 }],
  [sh("trap '' TERM; httpd -f"), { ignoresSigterm: true }],
  [['sh', '-ec', 'sleep 1'], { exitAfterMs: 1000, exitCode: 0 }],
])('%j does %j', (argv, behaviour) => {
  expect(behaviourOf(argv)).toEqual(behaviour);
});
