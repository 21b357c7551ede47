import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../host/program.ts';
import { runStep } from './runForeground.mjs';

const execFileAsync = promisify(execFile);

/**
 * Downloads a package of a Debian release from the host's mirror, and unpacks its programs into a directory. The
 * package is not installed, so none of its services run.
 */
export async function unpackPrograms({ release, name, directory }) {
  const aptGet = await findProgram('apt-get');
  if (aptGet === undefined) throw new Error('apt-get not found');
  const archiveUrl = await readHostArchive(aptGet);
  mkdirSync(dirname(directory), { recursive: true });
  const workDirectory = mkdtempSync(join(dirname(directory), 'next-'));
  // Clean up on exit, because a signal terminates the process before any `finally`.
  const removeWorkDirectory = () => rmSync(workDirectory, { recursive: true, force: true });
  process.once('exit', removeWorkDirectory);
  try {
    for (const each of ['lists/partial', 'cache/archives/partial', 'unpacked'])
      mkdirSync(join(workDirectory, each), { recursive: true });
    writeFileSync(join(workDirectory, 'sources.list'), `deb [signed-by=${KEYRING}] ${archiveUrl} ${release} main\n`);
    const apt = [aptGet, '-qq', ...aptOptions(workDirectory)];
    await runCheckedStep(workDirectory, [...apt, 'update']);
    await runCheckedStep(workDirectory, [...apt, 'download', name]);
    await runCheckedStep(workDirectory, ['sh', '-c', 'dpkg -x ./*.deb unpacked']);
    rmSync(directory, { recursive: true, force: true });
    renameSync(join(workDirectory, 'unpacked/usr/bin'), directory);
  } finally {
    process.off('exit', removeWorkDirectory);
    removeWorkDirectory();
  }
}

async function runCheckedStep(cwd, [program, ...args]) {
  const exitCode = await runStep(program, args, { cwd, stdio: ['ignore', 2, 2] });
  if (exitCode !== 0) throw new Error(`${program} ${args.at(-1)} exited with ${exitCode}`);
}

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Returns the options that isolate apt from the host's package lists, cache and installed packages. */
const aptOptions = (workDirectory) =>
  [
    `Dir::Etc::SourceList=${join(workDirectory, 'sources.list')}`,
    'Dir::Etc::SourceParts=-',
    `Dir::State::Lists=${join(workDirectory, 'lists')}`,
    'Dir::State::Status=/dev/null',
    `Dir::Cache=${join(workDirectory, 'cache')}`,
    'Acquire::Languages=none',
    'APT::Sandbox::User=root',
    'Acquire::http::Timeout=60',
  ].flatMap((option) => ['-o', option]);

/** Returns the URL of the mirror from which the host installs its packages. */
export async function readHostArchive(aptGet) {
  const outputFormat = '$(RELEASE) $(COMPONENT) $(REPO_URI)';
  const { stdout } = await execFileAsync(aptGet, ['indextargets', '--format', outputFormat, 'Created-By: Packages']);
  const codename = /^VERSION_CODENAME=(.*)$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const own = stdout
    .split('\n')
    .map((line) => line.split(' '))
    .find(([release, component]) => component === 'main' && (release === codename || /^(old)*stable$/.test(release)));
  if (own === undefined) throw new Error('apt has no source of Debian packages');
  return own[2];
}
