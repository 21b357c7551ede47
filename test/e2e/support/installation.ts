/** The package as npm installs it: reached through the symbolic links that npm creates. */
import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../../support/root.ts';

/** Links the package into `node_modules` of a directory, and returns the path of the command in its `.bin`. */
export async function linkPackage(directory: string): Promise<string> {
  const modules = join(directory, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  await symlink(root, join(modules, 'statelet'));
  const command = join(modules, '.bin', 'statelet');
  await symlink('../statelet/cli/statelet.sh', command);
  return command;
}

/** The parts of the package that a command needs. Everything else is bundled. */
const PARTS = ['cli', 'dist', 'examples', 'package.json', 'node_modules/node/bin/node'];

/**
 * Installs a copy of the package as `npm install -g` does, readable by all users wherever the package itself is.
 * Returns the path of the command in `bin`.
 */
export async function copyPackage(directory: string): Promise<string> {
  const copy = join(directory, 'lib', 'node_modules', 'statelet');
  for (const part of PARTS) await cp(join(root, part), join(copy, part), { recursive: true });
  await promisify(execFile)('chmod', ['-R', 'a+rX', join(directory, 'lib')]);
  const command = join(directory, 'bin', 'statelet');
  await mkdir(join(directory, 'bin'));
  await promisify(execFile)('chmod', ['a+rx', join(directory, 'bin')]);
  await symlink('../lib/node_modules/statelet/cli/statelet.sh', command);
  return command;
}
