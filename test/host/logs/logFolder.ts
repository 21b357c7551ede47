import { appendFile, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { afterEach } from '@jest/globals';
import { type LogOptions, readLog } from '../../../host/logs/readLog.ts';

export const NOON = Date.parse('2026-05-04T12:00:00Z');

/** A line as a runtime writes it, so many seconds after noon. */
export const line = (seconds: number, text: string, { stream = 'stdout', tags = 'F' } = {}): string => {
  const time = new Date(NOON + seconds * 1_000).toISOString().replace('Z', '123456Z');
  return `${time} ${stream} ${tags} ${text}\n`;
};

/** Whole lines of these texts, a second after each other. */
export const lines = (...texts: string[]): string => texts.map((text, at) => line(at, text)).join('');

/** The folder of a container's logs, with what a test does to it and sees of it. */
export interface LogFolder {
  readonly root: string;
  readonly path: string;
  write(name: string, text: string | Buffer): Promise<void>;
  append(name: string, text: string): Promise<void>;
  /** As a node does: the present file gets this name, and the runtime opens another. */
  rotate(name: string, options?: { readonly reopen?: boolean }): Promise<void>;
  /** Compresses what was set aside. */
  pack(name: string): Promise<void>;
  /** A file, or without a name all of the pod's. */
  remove(name?: string): Promise<void>;
  /** All that reading run 0 gives. */
  read(options?: Partial<LogOptions>): Promise<string>;
  /** Follows run 0 until it is told to have ended. */
  follow(options?: FollowOptions): Followed;
}

interface FollowOptions extends Partial<Omit<LogOptions, 'follow'>> {
  /** Waits so many milliseconds; absent: a twentieth of that. */
  readonly pause?: (ms: number) => Promise<unknown>;
  /** After its first chunk whoever reads it takes no other before that. */
  readonly until?: Promise<void>;
}

interface Followed {
  text(): string;
  /** Waits until it has come to this. */
  until(text: string): Promise<void>;
  /** The run has ended: resolves with all of its text. */
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
    follow: ({ until, pause = short, ...options } = {}) =>
      followed(pause, (follow, onText) =>
        read({ ...options, follow }, (text) => {
          onText(text);
          return until;
        }),
      ),
  };
}

type Following = NonNullable<LogOptions['follow']>;

/** A second of who follows is short here. */
const short = (ms: number) => wait(ms / 20);

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
