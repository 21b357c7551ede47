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
  await withUnpacked({ release, names: [name], parent: dirname(directory) }, (unpacked) => {
    rmSync(directory, { recursive: true, force: true });
    renameSync(join(unpacked, 'usr/bin'), directory);
  });
}

/**
 * Downloads packages of a Debian release from the host's mirror, unpacks them into one temporary directory below
 * `parent`, and passes that directory to `use`. The package lists are downloaded as well, so that the versions are those
 * that the mirror has now.
 */
export async function withUnpacked({ release, names, parent }, use) {
  const aptGet = await findProgram('apt-get');
  if (aptGet === undefined) throw new Error('apt-get not found');
  const archiveUrl = await readHostArchive(aptGet);
  mkdirSync(parent, { recursive: true });
  const workDirectory = mkdtempSync(join(parent, 'next-'));
  // Clean up on exit, because a signal terminates the process before any `finally`.
  const removeWorkDirectory = () => rmSync(workDirectory, { recursive: true, force: true });
  process.once('exit', removeWorkDirectory);
  try {
    for (const each of ['lists/partial', 'cache/archives/partial', 'unpacked'])
      mkdirSync(join(workDirectory, each), { recursive: true });
    writeFileSync(join(workDirectory, 'sources.list'), `deb [signed-by=${KEYRING}] ${archiveUrl} ${release} main\n`);
    const apt = [aptGet, '-qq', ...aptOptions(workDirectory)];
    await runCheckedStep(workDirectory, [...apt, 'update']);
    await runCheckedStep(workDirectory, [...apt, 'download', ...names]);
    await runCheckedStep(workDirectory, [
      'sh',
      '-c',
      'for package in ./*.deb; do dpkg -x "$package" unpacked || exit; done',
    ]);
    await use(join(workDirectory, 'unpacked'));
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
