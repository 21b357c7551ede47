/** Setup and runs of `npm start` and `npm test`, in a copy of the package with stand-ins for the programs. */
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Statelet, startStatelet } from '../e2e/support/statelet.ts';
import { root } from '../support/root.ts';
import { withRoot } from '../volume/onDisk.ts';

const copied = [
  'scripts/setup.mjs',
  'scripts/setup',
  ...['host', 'program', 'staticProgram'].map((name) => `cri/managed/${name}.ts`),
  'base/time/timeLimit.ts',
  'host/program.ts',
  'base/time/duration.ts',
  'base/failure.ts',
  'cli/statelet.sh',
];

let directory: string;
let calls: string;
let started: Statelet[];

beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'statelet-setup-')));
  calls = join(directory, 'calls');
  started = [];
  for (const path of copied) await cp(join(root, path), join(directory, path), { recursive: true });
  await write('calls', '');
  await write('package-lock.json', '{}');
  await write('package.json', JSON.stringify({ type: 'module', scripts: { check: 'true && false', unit: './unit' } }));
  await write('scripts/build.mjs', note('build'));
  await write('cli/bin.mjs', `${note('cli')}console.log(JSON.stringify([process.cwd(), ...process.argv.slice(2)]));`);
  const link = `mkdir -p node_modules/node/bin; ln -sf ${process.execPath} node_modules/node/bin/node`;
  await program('bin/npm', `echo "npm $*" >> ${calls}; ${link}`);
  await program('bin/apt-get', `echo "apt-get $*" >> ${calls}`);
});

afterEach(async () => {
  for (const each of started) await each.ended;
  await rm(directory, { recursive: true });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(join(directory, path, '..'), { recursive: true });
  await writeFile(join(directory, path), text);
}

async function program(path: string, script: string): Promise<void> {
  await write(path, `#!/bin/sh\n${script}\n`);
  await chmod(join(directory, path), 0o755);
}

const note = (name: string) => `await (await import('node:fs/promises')).appendFile('${calls}', '${name}\\n');\n`;

/** Puts stand-ins that are not static binaries before the programs of the host on the PATH. */
async function withoutStaticPrograms(): Promise<void> {
  for (const name of ['busybox', 'catatonit']) await program(`bin/${name}`, '');
}

/** Starts the script as npm does, with the host's own Node.js. */
function setup(...args: string[]): Statelet {
  const host = (process.env.PATH ?? '').split(':').filter((each) => !each.includes('node_modules'));
  const env = { PATH: [join(directory, 'bin'), ...host].join(':'), INIT_CWD: tmpdir() };
  const found = startStatelet(args, {
    by: ['/usr/bin/env', 'node', join(directory, 'scripts/setup.mjs'), '--run'],
    env,
  });
  started.push(found);
  return found;
}

async function finished(each: Statelet) {
  const code = await each.ended;
  return { code, out: each.out(), err: each.err() };
}

const called = async () => (await readFile(calls, 'utf8')).trim().split('\n');
const examples = () => join(directory, 'examples/pods');

describe('npm start', () => {
  test('installs the npm packages, bundles, and runs the node with the examples in the directory of the user', async () => {
    const { code, out } = await finished(setup('up', '--max-pods', '7'));
    expect(code).toBe(0);
    expect(out).toBe(
      `${JSON.stringify([await realpath(tmpdir()), 'up', '--pod-manifest-path', examples(), '--max-pods', '7'])}\n`,
    );
    const all = await called();
    expect(all[0]).toBe('npm ci --include=dev --no-audit --no-fund');
    expect(all.slice(-2)).toEqual(['build', 'cli']);
  });

  test('installs the npm packages once for one package-lock.json', async () => {
    await finished(setup('up'));
    await finished(setup('up'));
    const installed = async () => (await called()).filter((call) => call.startsWith('npm '));
    expect(await installed()).toHaveLength(1);
    await write('package-lock.json', '{"changed": true}');
    await finished(setup('up'));
    expect(await installed()).toHaveLength(2);
  });

  test('exits with the code of an npm ci that fails', async () => {
    await program('bin/npm', 'exit 7');
    expect(await finished(setup('up'))).toEqual({
      code: 7,
      out: '',
      err: 'statelet: installing the npm packages\nstatelet: npm ci failed\n',
    });
  });

  test.each([[['--pod-manifest-path', './mine']], [['--pod-manifest-path=./mine']], [['--config', 'kubelet.yaml']]])(
    'omits the examples with the arguments %j',
    async (args) => {
      const { out } = await finished(setup('up', ...args));
      expect(JSON.parse(out).slice(1)).toEqual(['up', ...args]);
    },
  );

  withRoot('installs the Debian packages whose programs are not there', async () => {
    await withoutStaticPrograms();
    expect((await finished(setup('up'))).code).toBe(0);
    const apt = (await called()).filter((call) => call.startsWith('apt-get '));
    expect(apt.at(-1)).toMatch(/ install -y --no-install-recommends busybox-static catatonit$/);
  });

  withRoot('asks apt-get for nothing when all is there', async () => {
    await finished(setup('up'));
    expect((await called()).filter((call) => call.startsWith('apt-get '))).toEqual([]);
  });

  withRoot('runs the node although apt-get fails: the node tells what it does without', async () => {
    await withoutStaticPrograms();
    await program('bin/apt-get', 'exit 100');
    const { code, err } = await finished(setup('up'));
    expect(code).toBe(0);
    expect(err).toContain('statelet: apt-get could not install busybox-static, catatonit\n');
    expect((await called()).at(-1)).toBe('cli');
  });

  for (const [how, handler] of [
    ['dies of it', '-'],
    ['ends well in spite of it', 'kill $!; exit 0'],
  ]) {
    withRoot(`a Ctrl-C during apt-get starts no node, when apt-get ${how}`, async () => {
      await withoutStaticPrograms();
      const work = handler === '-' ? 'exec sleep 100' : 'sleep 100 & wait';
      await program('bin/apt-get', `trap '${handler}' INT; echo "at work" >&2; ${work}`);
      const start = setup('up');
      await start.says('at work');
      start.kill('SIGINT');
      expect(await start.ended).toBe(130);
      expect(await called()).toEqual(['npm ci --include=dev --no-audit --no-fund']);
    });
  }
});

describe('npm test', () => {
  const results = (numbers: object) =>
    JSON.stringify({
      numPassedTests: 5,
      numFailedTests: 0,
      numRuntimeErrorTestSuites: 0,
      numPendingTests: 0,
      numTodoTests: 0,
      ...numbers,
    });
  const jest = (numbers: object, code = 0) => program('unit', `echo '${results(numbers)}' > "$3"; exit ${code}`);

  test('adds up checks and tests in its last line', async () => {
    await jest({ numFailedTests: 2 }, 1);
    expect(await finished(setup('test'))).toMatchObject({ code: 1, out: '6 passed, 3 failed\n' });
  });

  test('counts skipped tests as failed, and reports them', async () => {
    await jest({ numPendingTests: 2 });
    const { out, err } = await finished(setup('test'));
    expect(out).toBe('6 passed, 3 failed\n');
    expect(err).toContain('statelet: 2 tests were left out; they count as failed\n');
  });

  /** Writes a stand-in for Jest whose successive runs produce these results. */
  const jestRuns = async (...runs: readonly { readonly numbers: object; readonly code: number }[]) => {
    const script = ['echo "$*" >> jest-calls', 'run=$(wc -l < jest-calls)', 'case $run in'];
    for (const [index, { numbers, code }] of runs.entries()) {
      script.push(`${index + 1}) echo '${results(numbers)}' > "$3"; exit ${code} ;;`);
    }
    await program('unit', [...script, 'esac'].join('\n'));
  };
  const suite = { name: 'web.test.ts', status: 'failed', message: 'the port is taken' };
  const failedSuite = { ...suite, assertionResults: [{ status: 'passed' }, { status: 'failed' }] };
  const passedSuite = { ...suite, status: 'passed', assertionResults: [{ status: 'passed' }] };
  const firstRun = {
    numbers: {
      numFailedTests: 1,
      testResults: [passedSuite, failedSuite],
      projectNames: ['containerd-1', 'containerd-2'],
    },
    code: 1,
  };

  test('reruns a failed suite alone, and reports it as flaky if it passes', async () => {
    await jestRuns(firstRun, { numbers: { numPassedTests: 2 }, code: 0 });
    const { code, out, err } = await finished(setup('test'));
    expect([code, out]).toEqual([1, '7 passed, 1 failed\n']);
    expect(err).toMatch(
      /FLAKY: containerd-2 \S*web\.test\.ts\nthe first run failed:\nthe port is taken\nthe second run, alone, passed 2 /,
    );
    const jestCalls = await readFile(join(directory, 'jest-calls'), 'utf8');
    expect(jestCalls).toMatch(/^[^\n]*\n[^\n]* --selectProjects=containerd-2 --runTestsByPath web\.test\.ts\n$/);
  });

  test('reruns a suite with the same options, except for those that select suites', async () => {
    await jestRuns(firstRun, { numbers: { numPassedTests: 2 }, code: 0 });
    const selections = ['--shard=1/2', '--testPathIgnorePatterns=e2e', 'test/web', '--ignoreProjects', 'unit'];
    await finished(setup('test', '-w', '1', ...selections, '--testTimeout=9000', '--silent'));
    const [, rerun = ''] = (await readFile(join(directory, 'jest-calls'), 'utf8')).split('\n');
    expect(rerun).toMatch(
      / -w 1 --testTimeout=9000 --silent --selectProjects=containerd-2 --runTestsByPath web\.test\.ts$/,
    );
  });

  test.each([
    ['a random seed', [], /^--seed=\d+$/],
    ['the given seed', ['--seed', '7'], /^--seed 7$/],
  ])('reruns a suite with %s of the first run', async (_, args, expected) => {
    await jestRuns(firstRun, { numbers: { numPassedTests: 2 }, code: 0 });
    await finished(setup('test', ...args));
    const jestCalls = (await readFile(join(directory, 'jest-calls'), 'utf8')).trim().split('\n');
    const [seed, seedOfRerun] = jestCalls.map((call) => call.match(/--seed[= ]\d+/g)?.join());
    expect(seed).toMatch(expected);
    expect(seedOfRerun).toBe(seed);
  });

  test('counts a suite that fails twice once', async () => {
    await jestRuns(firstRun, { numbers: { numPassedTests: 1, numFailedTests: 1 }, code: 1 });
    const { code, out, err } = await finished(setup('test'));
    expect([code, out]).toEqual([1, '6 passed, 2 failed\n']);
    expect(err).not.toContain('FLAKY');
  });

  test('reruns no suite if many failed', async () => {
    const numbers = { numFailedTests: 11, testResults: Array.from({ length: 11 }, () => failedSuite) };
    await jestRuns({ numbers, code: 1 });
    expect(await finished(setup('test'))).toMatchObject({ code: 1, out: '6 passed, 12 failed\n' });
  });

  test('does not count tests as failed that the user did not select', async () => {
    await jest({ numPendingTests: 2 });
    expect((await finished(setup('test', '-t', 'one'))).out).toBe('6 passed, 1 failed\n');
  });

  describe('downloads the programs that tests use', () => {
    const apt = (more = '') =>
      program(
        'bin/apt-get',
        `case "$*" in
          *indextargets*) echo 'tools main http://tools.example'; echo 'stable main http://mirror.example/debian/' ;;
          *update) cat sources.list >> ${calls} ;;
          *download*) ${more} echo "$*" | sed 's/.* download/download/' >> ${calls}; touch one.deb ;;
        esac`,
      );
    const packages = async () => (await called()).filter((line) => /^(deb|download) /.test(line)).toSorted();
    const source = (release: string) =>
      `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://mirror.example/debian/ ${release} main`;

    beforeEach(async () => {
      await jest({});
      const scripts = {
        kubectl: 'echo Client Version: v1.99.0',
        prometheus: '',
        promtool: '',
        containerd: 'echo containerd github.com/containerd/containerd/v2 2.99.1+unknown',
        runc: 'echo runc version 1.98.0+ds1',
        patchelf: `echo patchelf $* >> ${calls}`,
      };
      const commands = Object.entries(scripts).map(
        ([name, script]) => `printf '#!/bin/sh\\n${script}\\n' > ${name} && chmod +x ${name}`,
      );
      const libraries = '../lib/x86_64-linux-gnu';
      const unpack = ['mkdir -p unpacked/usr/bin', 'cd unpacked/usr/bin', ...commands, `mkdir -p ${libraries}`];
      await program('bin/dpkg', [...unpack, `touch ${libraries}/ld-linux-x86-64.so.2`].join(' && '));
    });

    test('once from the package mirror of the host, and reports their versions', async () => {
      await apt();
      const { err } = await finished(setup('test'));
      expect(err).toContain('statelet: kubectl v1.99.0 (bookworm), v1.99.0 (sid)\n');
      expect(err).toContain('statelet: containerd 2.99.1, runc 1.98.0 (sid)\n');
      const fetched = [
        source('bookworm'),
        source('bookworm'),
        source('bookworm'),
        source('sid'),
        source('sid'),
        'download containerd runc libc6 libseccomp2',
        'download kubectl',
        'download kubernetes-client',
        'download patchelf',
        'download prometheus',
      ];
      expect(await packages()).toEqual(fetched);
      expect((await finished(setup('test'))).err).toContain('statelet: kubectl v1.99.0 (bookworm), v1.99.0 (sid)\n');
      expect(await packages()).toEqual(fetched);
    });

    test('and reports a failed download, while the tests run nevertheless and no partial files remain', async () => {
      await apt('case "$*" in *kubernetes-client) exit 100 ;; esac;');
      const { err, out } = await finished(setup('test'));
      expect(err).toMatch(
        /statelet: kubectl of bookworm could not be fetched: .*apt-get kubernetes-client exited with 100\n/,
      );
      expect(err).toContain('statelet: kubectl is missing (bookworm), v1.99.0 (sid)\n');
      expect(out).toBe('6 passed, 1 failed\n');
      expect(await readdir(join(directory, '.cache/kubectl'))).toEqual(['sid']);
    });

    test('and reports that Prometheus could not be downloaded', async () => {
      await apt('case "$*" in *prometheus) exit 100 ;; esac;');
      const { err, out } = await finished(setup('test'));
      expect(err).toMatch(/statelet: prometheus could not be fetched: .*apt-get prometheus exited with 100\n/);
      expect(out).toBe('6 passed, 1 failed\n');
      expect(await readdir(join(directory, '.cache'))).toEqual(['containerd', 'kubectl', 'patchelf']);
    });

    test('and has runc use the loader and the libraries that are downloaded with it', async () => {
      await apt();
      await finished(setup('test'));
      const libraries = join(directory, '.cache/containerd/lib/x86_64-linux-gnu');
      const options = `--set-interpreter ${libraries}/ld-linux-x86-64.so.2 --set-rpath ${libraries}`;
      expect(await called()).toContainEqual(expect.stringMatching(`^patchelf ${options} .*/usr/bin/runc$`));
    });

    test('and reports that containerd could not be downloaded, while the tests run nevertheless', async () => {
      await apt('case "$*" in *"download containerd "*) exit 100 ;; esac;');
      const { err, out } = await finished(setup('test'));
      expect(err).toMatch(
        /statelet: containerd and runc of sid could not be fetched: .*apt-get libseccomp2 exited with 100\n/,
      );
      expect(err).toContain('statelet: containerd and runc are missing or do not run (sid)\n');
      expect(out).toBe('6 passed, 1 failed\n');
      expect(await readdir(join(directory, '.cache'))).toEqual(['kubectl', 'patchelf', 'prometheus']);
    });
  });
});
