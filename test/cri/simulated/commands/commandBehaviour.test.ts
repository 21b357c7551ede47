import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { commandBehaviour } from '../../../../cri/simulated/commands/commandBehaviour.ts';
import { root } from '../../../support/root.ts';

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
  [sh('echo "no database; exit 9" >&2; exit 3'), { exitAfterMs: 0, exitCode: 3 }],
  [sh('sleep 2 > /dev/null 2>&1 && exit 4'), { exitAfterMs: 2000, exitCode: 4 }],
  [sh('false &> /tmp/x; sleep 1'), { exitAfterMs: 1000, exitCode: 0 }],
  [sh('seconds=3 code="7"\nLANG=C sleep "$seconds"; exit $code'), { exitAfterMs: 3000, exitCode: 7 }],
  [sh('sum=0; for n in $(seq 1 2 10); do sum=$((sum + n)); done; sleep 1'), { exitAfterMs: 1000, exitCode: 0 }],
  [sh('for n in $(seq 3); do sleep $n; done; exit 5'), { exitAfterMs: 6000, exitCode: 5 }],
  [sh('for code in 3 4; do exit $code; done'), { exitAfterMs: 0, exitCode: 3 }],
  [sh('for n in $(seq 1 1000000); do date; done'), {}],
  [sh('for a in $(seq 9999); do for b in $(seq 9999); do (date); done; done'), {}],
  [sh('f() { sleep 1; f; }; f'), {}],
  [sh('f() { sleep 1; false; } # f sleeps; exit 9\n{ f; f; } > /tmp/x || exit 6'), { exitAfterMs: 2000, exitCode: 6 }],
  [sh('(sleep 1; exit 3); exit 4'), { exitAfterMs: 1000, exitCode: 4 }],
  [sh('{ sleep 2; exit 3; } & sleep 1; wait $!'), { exitAfterMs: 2000, exitCode: 0 }],
  [sh("echo 'it is\n# no comment' \\\n more; exit 2"), { exitAfterMs: 0, exitCode: 2 }],
  [['sh', '-ec', 'sleep 1'], { exitAfterMs: 1000, exitCode: 0 }],
])('%j is simulated as %j', (argv, behaviour) => {
  expect(commandBehaviour(argv)).toEqual(behaviour);
});

test.each([
  ['crash', 'steady', { termExitCode: 0 }],
  ['crash', 'failing', { exitAfterMs: 0, exitCode: 3 }],
  ['host', 'heart', { termExitCode: 0 }],
  ['once', 'adder', { exitAfterMs: 2000, exitCode: 0, termExitCode: 143 }],
  ['web', 'server', { termExitCode: 0 }],
  ['web', 'writer', { termExitCode: 0 }],
])('in the example %s the container %s is simulated as %j', (file, name, behaviour) => {
  const manifest = path.join(root, 'examples/pods', `${file}.yaml`);
  const { pod, containers } = examples(manifest);
  expect(pod).toBe(file);
  expect(commandBehaviour(containers.get(name) ?? [])).toEqual(behaviour);
});

/**
 * Returns the pod name and the command line of each container of an example, with the reference that the node agent
 * expands.
 */
function examples(file: string): { pod: string; containers: Map<string, string[]> } {
  const { metadata, spec } = parse(readFileSync(file, 'utf8'));
  const filledIn = (words: string[]) => words.map((word) => word.replaceAll('$(LAST)', '1000'));
  return {
    pod: metadata.name,
    containers: new Map(
      spec.containers.map((each: { name: string; command: string[] }) => [each.name, filledIn(each.command)]),
    ),
  };
}
