import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findProgram } from '../../host/program.ts';
import { root, say } from './places.mjs';
import { runStep } from './runForeground.mjs';

const execute = promisify(execFile);
const cache = join(root, '.cache/kubectl');

/** The oldest and the newest that users of Debian have: by its release, the package that has it. */
const packages = { bookworm: 'kubernetes-client', sid: 'kubectl' };

/**
 * Fetches the kubectls that the tests use nodes with, each out of a release of Debian, wherever the host has its own
 * packages from: they are unpacked below .cache/kubectl and not installed. Those that are there are not fetched again.
 * What cannot be fetched is told; the tests fail then.
 */
export async function fetchKubectls() {
  const all = await Promise.all(Object.keys(packages).map(fetched));
  say(`kubectl ${all.map(({ release, version }) => `${version ?? 'is missing'} (${release})`).join(', ')}`);
}

async function fetched(release) {
  const there = await versionOf(release);
  if (there !== undefined) return { release, version: there };
  try {
    await fetchKubectl(release);
  } catch (error) {
    say(`kubectl of ${release} could not be fetched: ${error.message}`);
  }
  return { release, version: await versionOf(release) };
}

/** Undefined where it is not there, or does not run. */
async function versionOf(release) {
  try {
    const { stdout } = await execute(join(cache, release, 'kubectl'), ['version', '--client'], { timeout: 10_000 });
    return /v\d+\.\d+\.\d+/.exec(stdout)?.[0];
  } catch {
    return undefined;
  }
}

async function fetchKubectl(release) {
  const aptGet = await findProgram('apt-get');
  if (aptGet === undefined) throw new Error('there is no apt-get');
  const archive = await archiveOfHost(aptGet);
  say(`fetching kubectl of ${release}`);
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, 'next-'));
  // A signal ends the process before any `finally`.
  const clean = () => rmSync(work, { recursive: true, force: true });
  process.once('exit', clean);
  try {
    for (const each of ['lists/partial', 'cache/archives/partial', 'unpacked'])
      mkdirSync(join(work, each), { recursive: true });
    writeFileSync(join(work, 'sources.list'), `deb [signed-by=${KEYRING}] ${archive} ${release} main\n`);
    const apt = [aptGet, '-qq', ...optionsFor(work)];
    await step(work, [...apt, 'update']);
    await step(work, [...apt, 'download', packages[release]]);
    await step(work, ['sh', '-c', 'dpkg -x ./*.deb unpacked']);
    rmSync(join(cache, release), { recursive: true, force: true });
    renameSync(join(work, 'unpacked/usr/bin'), join(cache, release));
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
