/** The log of a container on a disk that fails at each call of a rotation, and on one that loses power there. */
import { dirname } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import type { FileSystem, OpenFile } from '../../../host/files/fileSystem.ts';
import { rotateIfNeeded } from '../../../host/pods/logRotation.ts';
import { deaths, failuresOf, type Trouble, TroubledDisk } from '../../fakes/disk.ts';

const { signal } = new AbortController();
const FILE = '/var/log/pods/default_web_web-uid/main/0.log';
const DIRECTORY = dirname(FILE);
const NOON = Date.UTC(2026, 0, 31, 12);
const SEEDS = [1, 2, 3, 4];

/** A runtime that writes to its open file, even if that file was renamed or removed. */
class Runtime {
  readonly #files: FileSystem;
  #log: OpenFile | undefined;
  lines = 0;

  constructor(files: FileSystem) {
    this.#files = files;
  }

  async reopen(): Promise<void> {
    this.#log = await this.#files.open(FILE, 'a');
  }

  /** Writes a few lines, which are durable afterwards. */
  async write(): Promise<void> {
    for (let count = 0; count < 3; count += 1) {
      this.lines += 1;
      await this.#log?.writeFile(`line ${this.lines}\n`);
    }
    await this.#log?.sync();
    await (await this.#files.open(DIRECTORY, 'r')).sync();
  }
}

class Stage {
  readonly disk = new TroubledDisk(() => NOON);
  readonly runtime = new Runtime(this.disk.sound);
  #seconds = 0;

  async begin(): Promise<void> {
    await this.disk.sound.mkdir(DIRECTORY, { recursive: true });
    for (const directory of ['/', '/var', '/var/log', '/var/log/pods', dirname(DIRECTORY)]) {
      await (await this.disk.sound.open(directory, 'r')).sync();
    }
    await this.runtime.reopen();
  }

  /** Writes to the log and rotates it, several times. */
  async play(files: FileSystem): Promise<void> {
    for (let turn = 0; turn < 3; turn += 1) {
      await this.runtime.write();
      this.#seconds += 1;
      const now = NOON + this.#seconds * 1_000;
      await rotateIfNeeded({
        files,
        file: FILE,
        maxBytes: 10,
        maxFiles: 20,
        now,
        reopen: () => this.runtime.reopen(),
        signal,
      });
    }
  }

  async meet(trouble?: Trouble): Promise<void> {
    await this.begin();
    this.disk.meet(trouble);
    await this.play(this.disk.files);
  }

  /**
   * Lets the next agent rotate the log. Afterwards each line must exist exactly once, and no temporary file may be
   * left.
   */
  async goOn(): Promise<void> {
    await this.play(this.disk.sound);
    const { sound } = this.disk;
    const names = sound.readdirSync(DIRECTORY);
    expect(names.filter((name) => name.endsWith('.tmp'))).toEqual([]);
    const lines = names.flatMap((name) => sound.readFileSync(`${DIRECTORY}/${name}`).split('\n').filter(Boolean));
    const expected = Array.from({ length: this.runtime.lines }, (_, index) => `line ${index + 1}`);
    expect(lines.toSorted()).toEqual(expected.toSorted());
  }
}

const undisturbed = new Stage();
await undisturbed.meet();
const calls = undisturbed.disk.calls.map((call, at) => [`${at}: ${call.call} ${call.path}`, at, call] as const);

test('without faults, each line exists once', () => undisturbed.goOn());

describe.each([
  ['the agent dies', [undefined]],
  ['the power fails', SEEDS],
])('after %s, no log line is lost', (_, seeds) => {
  test.each(calls)('at %s', async (_title, at) => {
    for (const fault of deaths) {
      for (const seed of seeds) {
        const stage = new Stage();
        void stage.meet({ at, fault });
        await new Promise((resolve) => setImmediate(resolve));
        expect(stage.disk.calls.length).toBeGreaterThan(at);
        if (seed !== undefined) {
          stage.disk.cutPower(seed);
          await stage.runtime.reopen();
        }
        await stage.goOn();
      }
    }
  });
});

describe('after a failing call, each line exists', () => {
  const failures = calls.flatMap(([title, at, call]) =>
    failuresOf(call).map((fault) => [`${JSON.stringify(fault)} at ${title}`, { at, fault }] as const),
  );

  test.each(failures)('%s', async (_, trouble) => {
    const stage = new Stage();
    await stage.meet(trouble).catch((error: unknown) => {
      expect(error).toMatchObject({ message: expect.stringContaining(trouble.fault.code) });
    });
    await stage.goOn();
  });
});
