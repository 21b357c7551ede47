/** The disk as one agent accesses it, through its gate. */
import { dirname } from 'node:path';
import type { DirectoryChange, FileSystem, OpenFile } from '../../../host/files/fileSystem.ts';
import type { DirectoryWatches } from '../faults/directoryWatches.ts';
import { callError } from '../faults/failures.ts';
import type { Gate, OutsideCall } from '../run/gate.ts';

/** The calls that change nothing on the disk. */
const READS: ReadonlySet<string> = new Set<keyof FileSystem | keyof OpenFile>([
  ...(['lstat', 'stat', 'readdir', 'readdirBytes', 'readFile', 'readlink', 'entries', 'mountsUnder'] as const),
  ...(['realpath', 'tail', 'close'] as const),
]);

type Method = (...args: readonly unknown[]) => unknown;

/** Share of an interrupted call that is done before the agent dies or the disk is full. */
const PARTIAL_SHARE = 0.5;

const firstPart = <T>(all: readonly T[]): readonly T[] => all.slice(0, Math.ceil(all.length * PARTIAL_SHARE));
const partOfText = (text: unknown): string => String(text).slice(0, Math.floor(String(text).length * PARTIAL_SHARE));
const partOf = (data: string | Uint8Array): string | Uint8Array =>
  typeof data === 'string' ? partOfText(data) : data.subarray(0, Math.floor(data.length * PARTIAL_SHARE));

const isRecursive = (options: unknown): boolean =>
  typeof options === 'object' && options !== null && Reflect.get(options, 'recursive') === true;

/** Returns a function that does the first part of a call, if the call can be interrupted halfway. */
function partialCall(files: FileSystem, name: string, args: readonly unknown[]): (() => Promise<unknown>) | undefined {
  const path = String(args[0]);
  if (name === 'writeFile') return () => files.writeFile(path, partOfText(args[1]));
  if (name === 'gzip') return async () => files.writeFile(String(args[1]), partOfText(await files.readFile(path)));
  if (name === 'mkdir' && isRecursive(args[1])) return () => files.mkdir(dirname(path), { recursive: true });
  if (name !== 'removeTree' && name !== 'rm') return undefined;
  return async () => {
    // `removeTree` removes nothing if something is mounted below.
    const mounts = name === 'removeTree' ? await files.mountsUnder(path, new AbortController().signal) : [];
    if (mounts.length > 0) return;
    const names = await files.readdir(path).catch(() => []);
    for (const each of firstPart(names)) await files.rm(`${path}/${each}`, { recursive: true, force: true });
  };
}

/** Passes each call through the gate. Events of watched directories do not reach a dead agent. */
export function gatedFiles(files: FileSystem, gate: Gate, watches: DirectoryWatches): FileSystem {
  const through = throughGate(gate, (name, args) => partialCall(files, name, args));
  const methods = Object.entries(methodsOf(files)).map(([name, method]) => [name, through(name, method)]);
  // `through` returns a method of the same type.
  const gated = Object.fromEntries(methods) as FileSystem;
  return {
    ...gated,
    threadCount: files.threadCount,
    open: async (path, flags, mode) => {
      const isRead = flags === 'r' || (typeof flags === 'number' && (flags & 0o3) === 0);
      const call = { target: 'disk', name: 'open', about: path, writes: !isRead } as const;
      const file = await gate.pass(call, { act: () => files.open(path, flags, mode), failure: failing(call) });
      return gatedFile(file, path, gate);
    },
    watch: (directory, { onChange, onError }) => {
      const call = { target: 'disk', name: 'watch', about: directory, writes: false } as const;
      const listener = {
        onChange: (name: string | null, change?: DirectoryChange) => void (gate.isClosed || onChange(name, change)),
        onError: (error: unknown) => void (gate.isClosed || onError(error)),
      };
      const act = () => watches.watch(files, directory, listener);
      return gate.passSync(call, { act, failure: failing(call), undo: (watcher) => watcher.close() });
    },
  };
}

function gatedFile(file: OpenFile, path: string, gate: Gate): OpenFile {
  const pass = <T>(name: keyof OpenFile, act: () => Promise<T>, actPartly?: () => Promise<unknown>) => {
    const call = { target: 'disk', name, about: path, writes: !READS.has(name) } as const;
    return gate.pass(call, { act, failure: failing(call), actPartly });
  };
  return {
    readFile: (options) => pass('readFile', () => file.readFile(options)),
    writeFile: (data) =>
      pass(
        'writeFile',
        () => file.writeFile(data),
        () => file.writeFile(partOf(data)),
      ),
    sync: () => pass('sync', () => file.sync()),
    chmod: (mode) => pass('chmod', () => file.chmod(mode)),
    stat: () => pass('stat', () => file.stat()),
    close: () => pass('close', () => file.close()),
  };
}

type PartialCallOf = (name: string, args: readonly unknown[]) => (() => Promise<unknown>) | undefined;

const throughGate = (gate: Gate, partialCallOf: PartialCallOf) => (name: string, method: Method) => {
  const isSync = name.endsWith('Sync');
  return (...args: readonly unknown[]) => {
    const call = { target: 'disk', name, about: String(args[0]), writes: !isSync && !READS.has(name) } as const;
    const passing = { act: () => method(...args), failure: failing(call), actPartly: partialCallOf(name, args) };
    return isSync ? gate.passSync(call, passing) : gate.pass(call, passing);
  };
};

const failing = (call: OutsideCall) => (code: string | undefined) => callError(call, code);

/** Returns the methods of an object, including inherited ones. */
function methodsOf(object: object): Record<string, Method> {
  const methods = new Map<string, Method>();
  for (let prototype = object; prototype !== Object.prototype; prototype = Object.getPrototypeOf(prototype)) {
    for (const name of Object.getOwnPropertyNames(prototype)) {
      const method: unknown = Reflect.get(object, name);
      if (name === 'constructor' || typeof method !== 'function' || methods.has(name)) continue;
      methods.set(name, (...args) => method.apply(object, args));
    }
  }
  return Object.fromEntries(methods);
}
