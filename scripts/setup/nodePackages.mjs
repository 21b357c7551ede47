import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { node24, printProgress, root } from './places.mjs';
import { runStep } from './runForeground.mjs';

const stampFile = join(root, 'node_modules/.statelet-lock');

/** Installs the packages of package-lock.json unless they are installed. Exits on failure. */
export async function installNodePackages() {
  if (existsSync(node24) && readText(stampFile) === hashLockFile()) return;
  printProgress('installing the npm packages');
  const exitCode = await runStep('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], {
    cwd: root,
    env: createHostEnvironment(),
    // Redirect npm's output to standard error, because standard output is reserved for the output of the command.
    stdio: ['ignore', 2, 2],
  });
  if (exitCode !== 0) {
    printProgress('npm ci failed');
    process.exit(exitCode);
  }
  stampNodePackages();
}

/** Records that the installed packages match package-lock.json. */
export function stampNodePackages() {
  writeFileSync(stampFile, hashLockFile());
}

function hashLockFile() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/**
 * Returns an environment without the npm variables of this script, in which npm runs on the host's Node.js. npm
 * replaces the Node.js in node_modules and therefore must not run on it.
 */
function createHostEnvironment() {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package)_/.test(name));
  const path = (process.env.PATH ?? '').split(':').filter((directory) => !directory.endsWith('node_modules/.bin'));
  return { ...Object.fromEntries(entries), PATH: path.join(':') };
}
