import { appendFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach } from '@jest/globals';
import { type LogOptions, readLog } from '../../../host/logs/readLog.ts';

export const NOON = Date.parse('2026-05-04T12:00:00Z');

/** Returns a line in the format of the runtime, this number of seconds after noon. */
export const line = (seconds: number, text: string, { stream = 'stdout', tags = 'F' } = {}): string => {
  const time = new Date(NOON + seconds * 1_000).toISOString().replace('Z', '123456Z');
  return `${time} ${stream} ${tags} ${text}\n`;
};

/** Returns complete lines with these texts, one second apart. */
export const lines = (...texts: string[]): string => texts.map((text, at) => line(at, text)).join('');

/** The directory of a container's logs, with the operations of a test on it. */
export interface LogFolder {
  readonly root: string;
  readonly path: string;
  write(name: string, text: string | Buffer): Promise<void>;
  append(name: string, text: string): Promise<void>;
  /** Renames the current file and lets the runtime open a new one, as a node does. */
  rotate(name: string, options?: { readonly reopen?: boolean }): Promise<void>;
  /** Compresses a rotated file. */
  pack(name: string): Promise<void>;
  /** Removes a file; without a name, all files of the pod. */
  remove(name?: string): Promise<void>;
  /** Returns everything that is read from the log of run 0. */
  read(options?: Partial<LogOptions>): Promise<string>;
  /** Follows the log of run 0 until `end` is called. */
  follow(options?: FollowOptions): Followed;
}

interface FollowOptions extends Partial<Omit<LogOptions, 'follow'>> {
  /** Waits for this number of milliseconds. The default waits for a twentieth of it. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** The reader takes no further chunk after the first one until this promise resolves. */
  readonly until?: Promise<void>;
}

interface Followed {
  text(): string;
  /** Waits until the text so far equals `text`. */
  until(text: string): Promise<void>;
  /** Ends the run. Resolves with its whole text. */
  end(): Promise<string>;
  readonly done: Promise<string>;
}

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

export async function logFolder(): Promise<LogFolder> {
  const root = await mkdtemp(join(tmpdir(), 'statelet-logs-'));
  folders.push(root);
  const path = join(root, 'default_web_u-1', 'main');
  await mkdir(path, { recursive: true });
  const at = (name: string) => join(path, name);
  const { signal } = new AbortController();
  const read = async (options: Partial<LogOptions>, onText: (text: string) => unknown = () => {}) => {
    const chunks: Buffer[] = [];
    for await (const chunk of readLog({ root, directory: path, run: 0 }, { signal, ...options })) {
      chunks.push(chunk);
      await onText(Buffer.concat(chunks).toString());
    }
    return Buffer.concat(chunks).toString();
  };
  return {
    root,
    path,
    write: (name, text) => writeFile(at(name), text),
    append: (name, text) => appendFile(at(name), text),
    rotate: async (name, { reopen = true } = {}) => {
      await rename(at('0.log'), at(name));
      if (reopen) await writeFile(at('0.log'), '');
    },
    pack: async (name) => {
      await writeFile(`${at(name)}.gz.tmp`, gzipSync(await readFile(at(name))));
      await rename(`${at(name)}.gz.tmp`, `${at(name)}.gz`);
      await rm(at(name));
    },
    remove: (name) => rm(name === undefined ? dirname(path) : at(name), { recursive: true }),
    read: (options = {}) => read(options),
    follow: ({ until, pause = shortenedPause, ...options } = {}) =>
      followed(pause, (follow, onText) =>
        read({ ...options, follow }, (text) => {
          onText(text);
          return until;
        }),
      ),
  };
}

type Following = NonNullable<LogOptions['follow']>;

/** Waits for a twentieth of the time, to shorten the pauses of a follower. */
const shortenedPause = (ms: number) => wait(ms / 20);

type Begin = (follow: Following, onText: (text: string) => void) => Promise<string>;

function followed(pause: Following['pause'], begin: Begin): Followed {
  let [text, runs] = ['', true];
  const done = begin({ isRunning: async () => runs, pause }, (more) => {
    text = more;
  });
  done.catch(() => {});
  return {
    text: () => text,
    until: async (wanted) => {
      for (const limit = Date.now() + 20_000; text !== wanted; ) {
        if (Date.now() > limit || text.length > wanted.length)
          throw new Error(`it has come to ${JSON.stringify(text)} instead of ${JSON.stringify(wanted)}`);
        await Promise.race([wait(5), done]);
      }
    },
    end: () => {
      runs = false;
      return done;
    },
    done,
  };
}
