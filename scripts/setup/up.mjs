import { join } from 'node:path';
import { root } from './places.mjs';
import { runForeground } from './runForeground.mjs';

const sourceFlags = ['--pod-manifest-path', '--config'];

/** Runs a node with the example pods, unless the arguments select other pods. Returns its exit code. */
export function up(args) {
  const hasPodSource = args.some((arg) => sourceFlags.includes(arg.split('=')[0]));
  const podFlags = hasPodSource ? [] : ['--pod-manifest-path', join(root, 'examples/pods')];
  // Run in the directory in which the user called npm, because npm changes the working directory and the user's
  // relative paths refer to the original one.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  return runForeground(join(root, 'cli/statelet.sh'), ['up', ...podFlags, ...args], { cwd });
}
