import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { buildHostImages } from '../../cri/managed/images/images.ts';
import { ociArchive } from '../../cri/managed/images/ociArchive.ts';
import { findProgram } from '../../host/program.ts';
import { HOSTS_PAGE, hostsPage, listVmTests, mergeResults, parseHostResults, RESULTS_FILE } from '../hostsPage.ts';
import { imageCacheDirectory, provideImage } from '../vm/image.ts';
import { bootMachine } from '../vm/machine.ts';
import { runInVm } from '../vm/ssh.ts';
import { node24, printProgress, root } from './places.mjs';
import { runForeground, runStep } from './runForeground.mjs';
import { countResults, readResults } from './test.mjs';
import { readHostArchive } from './unpackPrograms.mjs';

const execFileAsync = promisify(execFile);

const usage = `usage: npm run vm [-- [--rebuild] [--shell] [ARGUMENTS OF JEST]]
  --rebuild  builds the image again, with the current packages of Debian
  --shell    opens a shell in the machine instead of running the tests
`;

/** Files and directories that are needed to run the package. */
const packageParts = ['cli', 'dist', 'examples', 'package.json', 'node_modules/node/bin/node'];
const installedPackage = '/usr/local/lib/node_modules/statelet';

/**
 * Boots a virtual machine, installs the checkout in it, and runs the tests of test/vm against it over ssh. Prints the
 * totals in the last line. Returns the exit code.
 */
export async function runVmTests(args) {
  const ownFlags = ['--rebuild', '--shell', '--help'];
  const { values } = parseArgs({
    args: args.filter((arg) => ownFlags.includes(arg)),
    options: { rebuild: { type: 'boolean' }, shell: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  const jestArgs = args.filter((arg) => !ownFlags.includes(arg));
  if (values.help) {
    process.stdout.write(usage);
    return 0;
  }
  const obstacle = findObstacle();
  if (obstacle !== undefined) {
    printProgress(obstacle);
    return 1;
  }
  const interruption = abortOnSignals();
  const { signal } = interruption;
  const directory = mkdtempSync(join(tmpdir(), 'statelet-vm-'));
  removeOnExit(directory);
  let machine;
  try {
    const image = await provideImage({
      cacheDirectory: imageCacheDirectory(process.env),
      filesDirectory: join(root, 'scripts/vm/files'),
      findArchive: async () => readHostArchive(await findProgram('apt-get')),
      readAptOptions,
      runStep: runBuildStep,
      rebuild: values.rebuild ?? false,
      onBuild: (workDirectory) => {
        printProgress(`building the image of the virtual machine in ${workDirectory}`);
        removeOnExit(workDirectory);
      },
    });
    const archive = join(directory, 'package.tar');
    await runBuildStep('tar', ['-C', root, '-cf', archive, ...packageParts]);
    printProgress('booting the virtual machine');
    machine = await bootMachine({ image, secondDisk: archive, directory, signal, say: printProgress });
    printProgress('installing statelet in the virtual machine');
    await installCheckout(machine, signal);
    if (values.shell) return await runForeground('ssh', ['-F', machine.sshConfigFile, 'vm']);
    return await runJest(machine, { directory, jestArgs, signal });
  } catch (error) {
    if (!signal.aborted) {
      printProgress(error.message);
      return 1;
    }
    return 128 + constants.signals[interruption.signalName()];
  } finally {
    machine?.kill();
  }
}

function findObstacle() {
  if (process.platform !== 'linux' || process.arch !== 'x64') return 'the virtual machine needs Linux on x86-64';
  if (process.getuid() !== 0) return 'building and booting the virtual machine needs root';
  return undefined;
}

/**
 * Returns an `AbortSignal` that aborts when this process receives a termination signal, and a function that returns the
 * name of the first such signal.
 */
function abortOnSignals() {
  const abortController = new AbortController();
  let received;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(name, () => {
      received ??= name;
      abortController.abort();
    });
  }
  return { signal: abortController.signal, signalName: () => received };
}

function removeOnExit(directory) {
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }));
}

async function runBuildStep(program, args) {
  const path = await findProgram(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  const exitCode = await runStep(path, args, { stdio: ['ignore', 2, 2] });
  if (exitCode !== 0) throw new Error(`${program} exited with ${exitCode}`);
}

/** Returns the settings with which the host's apt downloads packages, excluding those for package indexes. */
async function readAptOptions() {
  const { stdout } = await execFileAsync('apt-config', ['dump', '--no-empty', 'Acquire']);
  const isRelevant = (line) => /^Acquire::(https?::|Check-|Retries)/.test(line);
  return stdout
    .split('\n')
    .filter(isRelevant)
    .map((line) => line.replace(/;$/, ''));
}

/**
 * Installs the package as `npm install --global` does, the example unit as its own comment describes, and the images.
 */
async function installCheckout(machine, signal) {
  const run = (command, options = {}) => runInVm(machine.sshConfigFile, command, { signal, ...options });
  // Set a CPU limit without effect while the machine is still idle. The first CPU limit on any cgroup patches the
  // scheduler code of the running kernel, which can crash an emulated kernel with several CPUs (`Oops: int3`).
  await run('systemctl set-property ssh.service CPUQuota=200%');
  await run(`set -e
    mkdir -p ${installedPackage}
    tar -C ${installedPackage} --no-same-owner -xf /dev/vdb
    ln -sf ../lib/node_modules/statelet/cli/statelet.sh /usr/local/bin/statelet
    mkdir -p /etc/kubernetes/manifests
    cp ${installedPackage}/examples/systemd/statelet.service /etc/systemd/system/
    systemctl daemon-reload`);
  const archive = ociArchive(await buildHostImages(signal));
  const endpoint = 'unix:///run/containerd/containerd.sock';
  await run(`statelet image import - --container-runtime-endpoint ${endpoint}`, { input: archive });
}

async function runJest(machine, { directory, jestArgs, signal }) {
  printProgress('running the tests');
  const file = join(directory, 'results.json');
  const nodeFlags = ['--max-semi-space-size=32', '--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
  const configFlags = ['--config', join(root, 'test/vm/jest.config.mjs'), '--verbose'];
  const exitCode = await runStep(
    node24,
    [
      ...nodeFlags,
      join(root, 'node_modules/jest/bin/jest.js'),
      ...configFlags,
      '--json',
      '--outputFile',
      file,
      ...jestArgs,
    ],
    { cwd: root, env: { ...process.env, STATELET_VM: machine.sshConfigFile }, stdio: ['ignore', 2, 2] },
  );
  const results = readResults(file);
  const counts = results === undefined ? { passed: 0, failed: 1 } : countResults(results, exitCode, false);
  // Do not record the results of a run with jest options, because they may select only some of the tests in a file.
  const runsWholeFiles = !jestArgs.some((arg) => arg.startsWith('-'));
  if (results !== undefined && runsWholeFiles) await writeResults(results, machine, signal);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  return counts.failed === 0 ? 0 : 1;
}

/**
 * Writes the results of this run together with those of the test files that did not run, and a page with all results.
 */
async function writeResults(results, machine, signal) {
  const shell = `. /etc/os-release
    echo "$PRETTY_NAME"
    uname -r
    systemctl --version | sed -n '1s/^systemd \\([0-9]*\\).*/\\1/p'
    containerd --version | cut -d ' ' -f 3
    runc --version | sed -n '1s/^runc version //p'`;
  const output = await runInVm(machine.sshConfigFile, shell, { signal });
  const [os, kernel, systemd, containerd, runc] = output.trimEnd().split('\n');
  const date = new Date().toISOString().slice(0, 10);
  const run = {
    host: { os, kernel, systemd, containerd, runc, accelerator: machine.accelerator },
    files: results.testResults.map(({ name, assertionResults }) => ({
      file: relative(root, name),
      date,
      tests: assertionResults.map(({ title, status }) => ({ title, status })),
    })),
  };
  const testFiles = listVmTests(root);
  const resultsFile = join(root, RESULTS_FILE);
  const earlier = existsSync(resultsFile) ? parseHostResults(readFileSync(resultsFile, 'utf8')) : undefined;
  const record = mergeResults(earlier, run, testFiles);
  mkdirSync(dirname(resultsFile), { recursive: true });
  writeFileSync(resultsFile, `${JSON.stringify(record, null, 2)}\n`);
  writeFileSync(join(root, HOSTS_PAGE), hostsPage(record, testFiles));
  printProgress(`wrote ${RESULTS_FILE} and ${HOSTS_PAGE}`);
}
