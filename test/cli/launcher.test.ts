import { execFile } from 'node:child_process';
import { chmod, chown, copyFile, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { startStatelet } from '../e2e/support/statelet.ts';
import { root } from '../support/root.ts';
import { withRoot } from '../volume/onDisk.ts';

const launcher = join(root, 'cli/statelet.sh');
const execute = promisify(execFile);

let directory: string;

const umask = process.umask();

beforeEach(async () => {
  // The permissions must not depend on the umask of the test run.
  process.umask(0o022);
  // The path contains a space and a name that looks like a flag.
  directory = join(await realpath(await mkdtemp(join(tmpdir(), 'statelet-launcher-'))), '-a host');
  await mkdir(directory);
});
afterEach(async () => {
  process.umask(umask);
  await rm(dirname(directory), { recursive: true, force: true });
});

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(join(directory, path)), { recursive: true });
  await writeFile(join(directory, path), text);
}

const TELLS = `console.log(JSON.stringify({ pid: process.pid, by: process.argv0, args: process.argv.slice(2) }));`;

/** Creates the package with a program of the test at some path of the host. */
async function packageAt(path: string, program = TELLS): Promise<void> {
  await write(`${path}/cli/bin.mjs`, program);
  await write(`${path}/package.json`, '{"type":"module"}');
  await copyFile(launcher, join(directory, path, 'cli/statelet.sh'));
  await chmod(join(directory, path, 'cli/statelet.sh'), 0o755);
}

async function link(path: string, target: string): Promise<string> {
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await symlink(target, file);
  return file;
}

const nodeAt = (path: string) => link(`${path}/node_modules/node/bin/node`, process.execPath);

async function run(by: string | string[], args: string[] = [], env: NodeJS.ProcessEnv = {}) {
  const started = startStatelet(args, { by: [by].flat(), env });
  const code = await started.ended;
  return { code, out: started.out(), err: started.err(), pid: started.pid };
}

test('the launcher configures frugal memory allocation for its own process, but not for child processes', async () => {
  const told = `process.once('exit', () => console.error(JSON.stringify({
    began: fs.readFileSync('/proc/self/environ', 'utf8').split('\\0').filter((each) => each.startsWith('MALLOC')).sort(),
    left: Object.keys(process.env).filter((name) => name.startsWith('MALLOC')),
    flags: process.execArgv,
  })));`;
  const program = `data:text/javascript,${encodeURIComponent(`import fs from 'node:fs'; ${told}`)}`;
  // Unset the variables that the test process itself may have.
  const unset = Object.fromEntries(
    Object.keys(process.env)
      .filter((name) => name.startsWith('MALLOC'))
      .map((name) => [name, undefined]),
  );
  const env = { ...unset, NODE_OPTIONS: `--import ${program}` };
  const { err } = await run(launcher, ['version', '--client'], env);
  expect(JSON.parse(err)).toEqual({
    began: [
      'MALLOC_ARENA_MAX=1',
      'MALLOC_MMAP_THRESHOLD_=16384',
      'MALLOC_TOP_PAD_=8192',
      'MALLOC_TRIM_THRESHOLD_=12288',
    ],
    left: [],
    flags: ['--v8-pool-size=1', '--max-semi-space-size=8'],
  });
});

describe('the launcher finds the package and its Node.js', () => {
  test.each([
    ['in node_modules/.bin', 'p/node_modules/.bin/statelet', '../statelet/cli/statelet.sh', 'p/node_modules/statelet'],
    ['in node_modules/.bin, hoisted', 'p/node_modules/.bin/statelet', '../statelet/cli/statelet.sh', 'p'],
    ['installed globally', 'bin/statelet', '../lib/node_modules/statelet/cli/statelet.sh', 'lib/node_modules/statelet'],
  ])('%s', async (_how, command, target, nodeIn) => {
    await packageAt(dirname(dirname(join(dirname(command), target))));
    await nodeAt(nodeIn);
    const by = await link(command, target);
    const { code, out, pid } = await run(by, ['run', '--a b', '']);
    expect(code).toBe(0);
    const node = join(directory, nodeIn, 'node_modules/node/bin/node');
    expect(JSON.parse(out)).toEqual({ pid, by: node, args: ['run', '--a b', ''] });
  });

  test('through a chain of symlinks, including an absolute one and a linked package', async () => {
    await packageAt('clone');
    await nodeAt('clone');
    await link('p/node_modules/statelet', join(directory, 'clone'));
    const bin = await link('p/node_modules/.bin/statelet', '../statelet/cli/statelet.sh');
    const { out } = await run(await link('usr/bin/statelet', bin));
    expect(JSON.parse(out)).toMatchObject({ by: join(directory, 'clone/node_modules/node/bin/node') });
  });

  test('by its name in PATH, and from a directory that CDPATH would shadow', async () => {
    await packageAt('clone');
    await nodeAt('clone');
    await link('bin/statelet', '../clone/cli/statelet.sh');
    const env = { PATH: `${directory}/bin:${process.env.PATH}`, CDPATH: '/' };
    const { stdout } = await execute('sh', ['-c', 'statelet run && cd ./bin && sh statelet run'], {
      cwd: directory,
      env,
    });
    expect(stdout.match(/"args":\["run"\]/g)).toHaveLength(2);
  });

  test('or uses the Node.js of the host if that is recent enough', async () => {
    await packageAt('clone');
    await link('bin/node', process.execPath);
    const by = join(directory, 'clone/cli/statelet.sh');
    const path = (process.env.PATH ?? '').split(':').filter((each) => !each.includes('node_modules'));
    expect(await run(by, [], { PATH: [`${directory}/bin`, ...path].join(':') })).toMatchObject({ code: 0, err: '' });
    await rm(join(directory, 'bin/node'));
    await write('bin/node', '#!/bin/sh\nexit 1\n');
    await chmod(join(directory, 'bin/node'), 0o755);
    expect(await run(by, [], { PATH: [`${directory}/bin`, ...path].join(':') })).toMatchObject({
      code: 1,
      out: '',
      err: 'statelet: Node.js 24 not found: reinstall the package without --ignore-scripts (its dependency "node" provides it)\n',
    });
  });
});

test('with a limit of fewer than 64 open files the launcher reports that and starts nothing', async () => {
  await packageAt('clone');
  await nodeAt('clone');
  const limited = (files: number) => ['sh', '-c', `ulimit -n ${files}; exec "$0" "$@"`];
  const command = join(directory, 'clone/cli/statelet.sh');
  for (const files of [12, 20, 63]) {
    expect(await run(limited(files), [command, 'run'])).toMatchObject({
      code: 1,
      out: '',
      err: `statelet: the limit of open files is ${files} (ulimit -n), at least 64 are required\n`,
    });
  }
  expect(await run(limited(64), [command, 'run'])).toMatchObject({ code: 0, err: '' });
});

test('file modes do not depend on the umask of the starting shell', async () => {
  await packageAt('clone', 'console.log(process.umask());');
  await nodeAt('clone');
  const strict = ['sh', '-c', 'umask 077; exec "$0" "$@"'];
  const { out } = await run(strict, [join(directory, 'clone/cli/statelet.sh'), 'run']);
  expect(out).toBe(`${0o022}\n`);
});

test('the agent has eight threads for file system calls unless configured, and the store knows the number', async () => {
  const files = pathToFileURL(join(root, 'host/files/fileSystem.ts'));
  await packageAt('clone', `import('${files}').then(({ hostFiles }) => console.log(hostFiles.threadCount));`);
  await nodeAt('clone');
  const threads = async (env: NodeJS.ProcessEnv) => (await run(join(directory, 'clone/cli/statelet.sh'), [], env)).out;
  expect(await threads({})).toBe('8\n');
  expect(await threads({ UV_THREADPOOL_SIZE: '5' })).toBe('5\n');
});

describe('the launched program', () => {
  beforeEach(() => nodeAt('clone'));
  const command = () => join(directory, 'clone/cli/statelet.sh');

  test('determines the exit code', async () => {
    await packageAt('clone', 'process.exit(7)');
    expect((await run(command())).code).toBe(7);
  });

  test('receives a signal once, and is terminated by it like any program', async () => {
    await packageAt(
      'clone',
      "process.once('SIGINT', () => console.log('heard')); setInterval(() => {}, 1e6); console.log('up');",
    );
    const started = startStatelet([], { by: [command()] });
    await started.says('up');
    started.kill('SIGINT');
    await started.says('heard');
    started.kill('SIGTERM');
    expect(await started.ended).toBe('SIGTERM');
  });

  test('reads standard input', async () => {
    await packageAt('clone', 'process.stdin.pipe(process.stdout)');
    const { stdout } = await execute('sh', ['-c', 'echo said | "$0"', command()]);
    expect(stdout).toBe('said\n');
  });
});

withRoot('who may not read the package gets a sentence', async () => {
  const by = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups', join(directory, 'clone/cli/statelet.sh')];
  await packageAt('clone');
  await nodeAt('clone');
  await write('clone/dist/daemon.js', '');
  for (const each of [dirname(directory), directory]) await chmod(each, 0o755);
  await chown(join(directory, 'clone'), 65_534, 65_534);
  // A directory that can be read but not entered must be rejected as well.
  const closed = {
    'cli/bin.mjs': 0o700,
    'package.json': 0o700,
    'dist/daemon.js': 0o700,
    dist: 0o744,
    node_modules: 0o700,
  };
  for (const [part, mode] of Object.entries(closed)) {
    await chmod(join(directory, 'clone', part), mode);
    const { ended, out, err } = startStatelet(['run'], { by });
    expect(await ended).toBe(1);
    expect(out()).toBe('');
    expect(err()).toBe(
      `statelet: nobody cannot read ${directory}/clone/${part}, a part of the package: permission denied\n`,
    );
    await chmod(join(directory, 'clone', part), 0o755);
  }
});
