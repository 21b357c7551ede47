import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { node24, root, say } from './places.mjs';
import { runStep } from './runForeground.mjs';

const stamp = join(root, 'node_modules/.statelet-lock');

/** Installs the packages that package-lock.json names, unless those are there. Ends the process when that fails. */
export async function installNodePackages() {
  if (existsSync(node24) && readText(stamp) === lockHash()) return;
  say('installing the npm packages');
  const code = await runStep('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], {
    cwd: root,
    env: outsideEnvironment(),
    // Standard output belongs to the command.
    stdio: ['ignore', 2, 2],
  });
  if (code !== 0) {
    say('npm ci failed');
    process.exit(code);
  }
  stampNodePackages();
}

/** EventMessages that the packages that are there are those of package-lock.json. */
export function stampNodePackages() {
  writeFileSync(stamp, lockHash());
}

function lockHash() {
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex');
}

function readText(file) {
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

/** npm must not be run by the Node that it is about to replace, nor take our script's variables for its own. */
function outsideEnvironment() {
  const entries = Object.entries(process.env).filter(([name]) => !/^npm_(lifecycle|package)_/.test(name));
  const path = (process.env.PATH ?? '').split(':').filter((directory) => !directory.endsWith('node_modules/.bin'));
  return { ...Object.fromEntries(entries), PATH: path.join(':') };
}
