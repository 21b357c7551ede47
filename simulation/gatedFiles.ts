/** The disk as one agent reaches it. */
import type { FileSystem, OpenFile } from '../host/files/fileSystem.ts';
import { type FileErrorCode, fileError } from '../host/simulated/fileErrors.ts';
import type { Gate, OutsideCall } from './outside.ts';

/** The calls that change nothing on the disk. */
const READS: ReadonlySet<string> = new Set<keyof FileSystem | keyof OpenFile>([
  ...(['lstat', 'stat', 'readdir', 'readdirBytes', 'readFile', 'readlink', 'entries', 'mountsUnder'] as const),
  ...(['realpath', 'tail', 'close'] as const),
]);

/** The errors that a disk may give at any time; the rest follow from what was asked for. */
export const DISK_ERRORS = ['EIO', 'ENOSPC', 'EROFS', 'EMFILE'] as const satisfies readonly FileErrorCode[];

const isFileError = (code: string | undefined): code is FileErrorCode =>
  code !== undefined && (DISK_ERRORS as readonly string[]).includes(code);

type Method = (...args: readonly unknown[]) => unknown;

/** Each call passes the gate on its way; a directory that is watched tells a dead agent nothing. */
export function gatedFiles(files: FileSystem, gate: Gate): FileSystem {
  const through = throughGate(gate);
  const methods = Object.entries(methodsOf(files)).map(([name, method]) => [name, through(name, method)]);
  // Each method is what it was, but that it passes the gate.
  const gated = Object.fromEntries(methods) as FileSystem;
  return {
    ...gated,
    open: async (path, flags, mode) => {
      const isRead = flags === 'r' || (typeof flags === 'number' && (flags & 0o3) === 0);
      const call = { room: 'disk', name: 'open', about: path, writes: !isRead } as const;
      const file = await gate.pass(call, { act: () => files.open(path, flags, mode), failure: failureOf(call) });
      return gatedFile(file, path, gate);
    },
    watch: (directory, { onChange, onError }) =>
      files.watch(directory, {
        onChange: (name) => void (gate.isClosed || onChange(name)),
        onError: (error) => void (gate.isClosed || onError(error)),
      }),
  };
}

function gatedFile(file: OpenFile, path: string, gate: Gate): OpenFile {
  const through = throughGate(gate, path);
  const methods = Object.entries(methodsOf(file)).map(([name, method]) => [name, through(name, method)]);
  // As above.
  return Object.fromEntries(methods) as OpenFile;
}

/** `path` is that of an open file, whose calls name none. */
const throughGate = (gate: Gate, path?: string) => (name: string, method: Method) => {
  const isNow = name.endsWith('Sync');
  return (...args: readonly unknown[]) => {
    const call = { room: 'disk', name, about: path ?? String(args[0]), writes: !isNow && !READS.has(name) } as const;
    const passing = { act: () => method(...args), failure: failureOf(call) };
    return isNow ? gate.passNow(call, passing) : gate.pass(call, passing);
  };
};

const failureOf =
  ({ name, about, writes }: OutsideCall) =>
  (code: string | undefined): Error =>
    fileError(isFileError(code) && (writes || code === 'EMFILE') ? code : 'EIO', name, about);

/** What can be called of an object, whether its own or of its class. */
function methodsOf(object: object): Record<string, Method> {
  const found = new Map<string, Method>();
  for (let at = object; at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const name of Object.getOwnPropertyNames(at)) {
      const method: unknown = Reflect.get(object, name);
      if (name === 'constructor' || typeof method !== 'function' || found.has(name)) continue;
      found.set(name, (...args) => method.apply(object, args));
    }
  }
  return Object.fromEntries(found);
}
