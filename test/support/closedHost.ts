/**
 * Takes away whatever of the host a program can reach without being given it: time, chance, files, processes, sockets.
 * It has to be loaded before the program, which may keep what it finds.
 */
import { syncBuiltinESMExports } from 'node:module';

/** Modules of Node.js, all functions and classes of which are closed. */
const MODULES = [
  'fs',
  'fs/promises',
  'child_process',
  'net',
  'tls',
  'dns',
  'dns/promises',
  'http',
  'https',
  'http2',
  'dgram',
  'worker_threads',
  'os',
  'timers',
  'timers/promises',
];
/** Of these only the functions that are named: the rest gives the same for the same. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  crypto: ['randomBytes', 'randomFill', 'randomFillSync', 'randomInt', 'randomUUID', 'generateKey'],
  process: [
    'hrtime',
    'uptime',
    'kill',
    'cwd',
    'chdir',
    'memoryUsage',
    'cpuUsage',
    'resourceUsage',
    'getuid',
    'geteuid',
  ],
};
const FUNCTIONS = ['setTimeout', 'setInterval', 'setImmediate', 'fetch'] as const;

type AnyFunction = (...args: unknown[]) => unknown;

/** A turn of the event loop, which is never closed. */
export const openTurn = (
  (turn) => () =>
    new Promise<void>((resolve) => turn(resolve))
)(setImmediate);

const calls: string[] = [];
let isClosed = false;

/** Notes each call while the host is closed, and refuses it. */
function look(name: string): void {
  if (!isClosed) return;
  const error = new Error(`${name} is closed`);
  calls.push(error.stack ?? name);
  throw error;
}

/** Functions, and classes to be made or extended. */
const guarded = (name: string, original: AnyFunction): AnyFunction =>
  new Proxy(original, {
    apply: (target, self, args) => {
      look(name);
      return Reflect.apply(target, self, args);
    },
    construct: (target, args, made) => {
      look(name);
      // What is constructed is an object.
      return Reflect.construct(target, args, made) as object;
    },
  });

function guard(target: object, keys: readonly string[], of: string): void {
  for (const key of keys) {
    const original: unknown = Reflect.get(target, key);
    if (typeof original !== 'function') continue;
    // Whatever it takes, it is given the same.
    const value = guarded(`${of}${key}`, original as AnyFunction);
    Object.defineProperty(target, key, { value, writable: true, configurable: true });
  }
}

/** While the host is closed there is no environment: a package that looks for its switches there finds none. */
function hideEnvironment(): void {
  const { env } = process;
  Object.defineProperty(process, 'env', { get: () => (isClosed ? {} : env), configurable: true });
}

/** Dates of given times are made as ever. */
const guardedDate = new Proxy(Date, {
  construct: (target, args: number[], made) => {
    if (args.length === 0) look('new Date()');
    // What is constructed is an object.
    return Reflect.construct(target, args, made) as object;
  },
});

const module = (name: string): object => process.getBuiltinModule(name) ?? {};
for (const name of MODULES) guard(module(name), Object.keys(module(name)), `${name}.`);
for (const [name, keys] of Object.entries(PARTS)) guard(module(name), keys, `${name}.`);
guard(globalThis, FUNCTIONS, '');
guard(Math, ['random'], 'Math.');
guard(AbortSignal, ['timeout'], 'AbortSignal.');
guard(Date, ['now'], 'Date.');
guard(performance, ['now'], 'performance.');
guard(globalThis.crypto, ['randomUUID', 'getRandomValues'], 'crypto.');
hideEnvironment();
Object.defineProperty(globalThis, 'Date', { value: guardedDate, writable: true, configurable: true });
syncBuiltinESMExports();

/** Closes the host for this process; gives the way to open it, which tells what was called all the same, with where. */
export function closeHost(): () => readonly string[] {
  isClosed = true;
  return () => {
    isClosed = false;
    return calls.splice(0);
  };
}
