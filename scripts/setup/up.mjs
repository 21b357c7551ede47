import { join } from 'node:path';
import { root } from './places.mjs';
import { runForeground } from './runForeground.mjs';

const sources = ['--pod-manifest-path', '--config'];

/** Runs the node over the examples, unless the arguments name other pods. Gives its exit code. */
export function up(args) {
  const named = args.some((arg) => sources.includes(arg.split('=')[0]));
  const pods = named ? [] : ['--pod-manifest-path', join(root, 'examples/pods')];
  // npm changes into the package; a user's relative paths begin where the user is.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  return runForeground(join(root, 'cli/statelet.sh'), ['up', ...pods, ...args], { cwd });
}
