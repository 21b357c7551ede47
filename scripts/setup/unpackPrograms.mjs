import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../host/program.ts';
import { runStep } from './runForeground.mjs';

const execute = promisify(execFile);

/**
 * Fetches a package of a release of Debian, wherever the host has its own packages from, and unpacks its programs into a
 * directory. Nothing of it is installed: the host has no service of it.
 */
export async function unpackPrograms({ release, name, directory }) {
  const aptGet = await findProgram('apt-get');
  if (aptGet === undefined) throw new Error('there is no apt-get');
  const archive = await archiveOfHost(aptGet);
  mkdirSync(dirname(directory), { recursive: true });
  const work = mkdtempSync(join(dirname(directory), 'next-'));
  // A signal ends the process before any `finally`.
  const clean = () => rmSync(work, { recursive: true, force: true });
  process.once('exit', clean);
  try {
    for (const each of ['lists/partial', 'cache/archives/partial', 'unpacked'])
      mkdirSync(join(work, each), { recursive: true });
    writeFileSync(join(work, 'sources.list'), `deb [signed-by=${KEYRING}] ${archive} ${release} main\n`);
    const apt = [aptGet, '-qq', ...optionsFor(work)];
    await step(work, [...apt, 'update']);
    await step(work, [...apt, 'download', name]);
    await step(work, ['sh', '-c', 'dpkg -x ./*.deb unpacked']);
    rmSync(directory, { recursive: true, force: true });
    renameSync(join(work, 'unpacked/usr/bin'), directory);
  } finally {
    process.off('exit', clean);
    clean();
  }
}

async function step(cwd, [program, ...args]) {
  const code = await runStep(program, args, { cwd, stdio: ['ignore', 2, 2] });
  if (code !== 0) throw new Error(`${program} ${args.at(-1)} ended with ${code}`);
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Lists, cache and state of its own: what the host has installed plays no part, and nothing of it changes. */
const optionsFor = (work) =>
  [
    `Dir::Etc::SourceList=${join(work, 'sources.list')}`,
    'Dir::Etc::SourceParts=-',
    `Dir::State::Lists=${join(work, 'lists')}`,
    'Dir::State::Status=/dev/null',
    `Dir::Cache=${join(work, 'cache')}`,
    'Acquire::Languages=none',
    'APT::Sandbox::User=root',
    'Acquire::http::Timeout=60',
  ].flatMap((option) => ['-o', option]);

/** Where the host has the packages of its own release from. */
async function archiveOfHost(aptGet) {
  const format = '$(RELEASE) $(COMPONENT) $(REPO_URI)';
  const { stdout } = await execute(aptGet, ['indextargets', '--format', format, 'Created-By: Packages']);
  const codename = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const own = stdout
    .split('\n')
    .map((line) => line.split(' '))
    .find(([release, component]) => component === 'main' && (release === codename || /^(old)*stable$/.test(release)));
  if (own === undefined) throw new Error('apt has no source of Debian packages');
  return own[2];
}
