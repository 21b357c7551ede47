/**
 * Installs the dependencies of a command, then runs it: `node scripts/setup.mjs --run up|playground|test|vm|bench [ARGS]`.
 * It needs only npm and the host's Node.js, and does nothing for dependencies that are already installed.
 */
import { installNodePackages } from './setup/nodePackages.mjs';
import { node24, root } from './setup/places.mjs';
import { runForeground } from './setup/runForeground.mjs';

const [flag, command = '', ...args] = process.argv.slice(2);
const commands = {
  up: async () => (await import('./setup/up.mjs')).up(args),
  playground: async () => (await import('./setup/playground.mjs')).runPlayground(args),
  test: async () => (await import('./setup/test.mjs')).runTests(args),
  vm: async () => (await import('./setup/vm.mjs')).runVmTests(args),
  bench: () => runForeground(node24, [`${root}/test/bench/main.ts`, ...args]),
};

if (flag !== '--run' || !Object.hasOwn(commands, command)) {
  console.error('usage: node scripts/setup.mjs --run up|playground|test|vm|bench [ARGS]');
  process.exit(1);
}
// Ignore the caller's umask, because all users must be able to run the installed files.
process.umask(0o022);
await installNodePackages();
if (Number.parseInt(process.versions.node, 10) < 24) {
  // Run this script again in Node.js 24, because the following imports load TypeScript.
  process.exit(await runForeground(node24, process.argv.slice(1)));
}
const { installDebianPackages } = await import('./setup/debianPackages.mjs');
await installDebianPackages(command);
if (command === 'test') {
  await (await import('./setup/kubectls.mjs')).fetchKubectls();
  await (await import('./setup/prometheus.mjs')).fetchPrometheus();
  await (await import('./setup/containerd.mjs')).fetchContainerd();
}
const { bundle } = await import('./setup/bundle.mjs');
await bundle();
process.exit(await commands[command]());
