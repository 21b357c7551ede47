/**
 * Sets up what a command needs, then runs it: `node scripts/setup.mjs --run up|playground|test|bench [arguments of the command]`.
 * It needs nothing but npm and the Node that a host has; what is there already is not touched.
 */
import { installNodePackages } from './setup/nodePackages.mjs';
import { node24, root } from './setup/places.mjs';
import { runForeground } from './setup/runForeground.mjs';

const [flag, command = '', ...args] = process.argv.slice(2);
const commands = {
  up: async () => (await import('./setup/up.mjs')).up(args),
  playground: async () => (await import('./setup/playground.mjs')).playground(args),
  test: async () => (await import('./setup/test.mjs')).test(args),
  bench: () => runForeground(node24, [`${root}/test/bench/main.ts`, ...args]),
};

if (flag !== '--run' || !Object.hasOwn(commands, command)) {
  console.error('usage: node scripts/setup.mjs --run up|playground|test|bench [arguments of the command]');
  process.exit(1);
}
// Whatever that of the shell is: what is installed and built here is for everybody who may run it.
process.umask(0o022);
await installNodePackages();
if (Number.parseInt(process.versions.node, 10) < 24) {
  // What follows reads TypeScript.
  process.exit(await runForeground(node24, process.argv.slice(1)));
}
const { installDebianPackages } = await import('./setup/debianPackages.mjs');
await installDebianPackages({ forTests: command === 'test' });
if (command === 'test') {
  await (await import('./setup/kubectls.mjs')).fetchKubectls();
  await (await import('./setup/prometheus.mjs')).fetchPrometheus();
}
const { bundle } = await import('./setup/bundle.mjs');
await bundle();
process.exit(await commands[command]());
