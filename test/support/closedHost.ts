/**
 * Closes everything of the host that a program can reach without receiving it as input: time, randomness, files,
 * processes and sockets. Load this module before the program, because the program may store references to the functions
 * that it finds.
 */
import { syncBuiltinESMExports } from 'node:module';

/** Modules of Node.js whose functions and classes are all closed. */
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
/** Modules of which only these functions are closed. Their other functions are deterministic. */
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

/** Resolves after one turn of the event loop, even while the host is closed. */
export const openTurn = (
  (turn) => () =>
    new Promise<void>((resolve) => turn(resolve))
)(setImmediate);

const calls: string[] = [];
let isClosed = false;

/** Records a call and throws while the host is closed. */
function refuseIfClosed(name: string): void {
  if (!isClosed) return;
  const error = new Error(`${name} is closed`);
  calls.push(error.stack ?? name);
  throw error;
}

/** Returns a proxy of a function or a class that cannot be called, constructed or extended while the host is closed. */
const guarded = (name: string, original: AnyFunction): AnyFunction =>
  new Proxy(original, {
    apply: (target, self, args) => {
      refuseIfClosed(name);
      return Reflect.apply(target, self, args);
    },
    construct: (target, args, newTarget) => {
      refuseIfClosed(name);
      // A constructor always returns an object.
      return Reflect.construct(target, args, newTarget) as object;
    },
  });

function guard(target: object, keys: readonly string[], of: string): void {
  for (const key of keys) {
    const original: unknown = Reflect.get(target, key);
    if (typeof original !== 'function') continue;
    // The proxy passes on any arguments, so the cast is safe.
    const value = guarded(`${of}${key}`, original as AnyFunction);
    Object.defineProperty(target, key, { value, writable: true, configurable: true });
  }
}

/**
 * Hides the environment variables while the host is closed, so that a package that reads its switches there finds none.
 */
function hideEnvironment(): void {
  const { env } = process;
  Object.defineProperty(process, 'env', { get: () => (isClosed ? {} : env), configurable: true });
}

/** Refuses `new Date()`, but not the creation of a date from a given time. */
const guardedDate = new Proxy(Date, {
  construct: (target, args: number[], newTarget) => {
    if (args.length === 0) refuseIfClosed('new Date()');
    // A constructor always returns an object.
    return Reflect.construct(target, args, newTarget) as object;
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

/**
 * Closes the host for this process. The returned function opens it again, and returns the stack of each refused call.
 */
export function closeHost(): () => readonly string[] {
  isClosed = true;
  return () => {
    isClosed = false;
    return calls.splice(0);
  };
}
