/** The errors of failed calls to the outside, which are those that the real targets return. */
import { status } from '@grpc/grpc-js';
import { networkError } from '../../../actors/simulated/connection.ts';
import { lookUp } from '../../../base/values/lookUp.ts';
import { CallError, type CodeName } from '../../../cri/simulated/faults/callError.ts';
import { type FileErrorCode, fileError } from '../../../host/simulated/fileError.ts';
import { ApiRefusal } from '../cluster/apiRefusal.ts';
import type { CallTarget, OutsideCall } from '../run/gate.ts';

/** The errors that any read from a disk may return. */
const DISK_READS = ['EIO', 'EMFILE', 'ENFILE'] as const;
/** The errors of starting a watch, because the numbers of watches and inotify instances are limited. */
const WATCHES = ['ENOSPC', 'EMFILE', 'ENFILE'] as const;
const DISK_WRITES = ['EIO', 'ENOSPC', 'EROFS', 'EMFILE', 'ENFILE'] as const;
/** The errors of operations in the kernel, by the name of the call. */
const KERNEL: Readonly<Record<string, readonly string[]>> = {
  mount: ['EIO', 'EMFILE'],
  unmount: ['EBUSY', 'EIO'],
  bind: ['EIO', 'ENOSPC'],
  mountAt: ['EIO'],
  rmdir: ['EBUSY'],
  write: ['EINVAL', 'EBUSY'],
};
/**
 * The errors that any call to the runtime may return, because of the transport or because the runtime is overloaded or
 * broken.
 */
const RUNTIME = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'UNKNOWN', 'CANCELLED', 'INTERNAL', 'RESOURCE_EXHAUSTED'] as const;
/** Further errors that containerd returns for certain calls. */
const CALL_CODES: Readonly<Record<string, readonly CodeName[]>> = {
  runPodSandbox: ['NOT_FOUND', 'ALREADY_EXISTS', 'INVALID_ARGUMENT'],
  execSync: ['NOT_FOUND'],
  createContainer: ['NOT_FOUND', 'ALREADY_EXISTS', 'INVALID_ARGUMENT'],
  pullImage: ['NOT_FOUND'],
  startContainer: ['NOT_FOUND', 'ALREADY_EXISTS'],
  removeContainer: ['FAILED_PRECONDITION'],
  updatePodSandboxResources: ['NOT_FOUND', 'UNIMPLEMENTED'],
  updateContainerResources: ['NOT_FOUND', 'INVALID_ARGUMENT', 'UNIMPLEMENTED'],
  // containerd 1.6 returns this if it has lost track of a task that it was starting.
  removePodSandbox: ['FAILED_PRECONDITION'],
  containerStats: ['NOT_FOUND', 'UNIMPLEMENTED'],
  runtimeConfig: ['UNIMPLEMENTED'],
  updateRuntimeConfig: ['UNIMPLEMENTED', 'INVALID_ARGUMENT'],
};
/**
 * The status codes of an API server that is broken, unavailable or overloaded, or whose authorizer is not up to date.
 */
const API_REFUSALS = ['500', '503', '429', '403'] as const;
/** Whether an API server that responds with this code has rejected the request before it had any effect. */
export const isRejectionCode = (code: string): boolean => ['503', '429', '403'].includes(code);
const NETWORK = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'EMFILE', 'ENFILE'] as const;

/** The gRPC codes of a driver that is restarting, overloaded or broken. */
const DRIVERS = ['UNAVAILABLE', 'DEADLINE_EXCEEDED', 'INTERNAL'] as const;

const CODES: Readonly<Record<CallTarget, (call: OutsideCall) => readonly string[]>> = {
  runtime: ({ name }) => [...RUNTIME, ...(lookUp(CALL_CODES, name) ?? [])],
  disk: ({ name, writes }) => (name === 'watch' ? WATCHES : writes ? DISK_WRITES : DISK_READS),
  mounts: ({ name, writes }) => lookUp(KERNEL, name) ?? (writes ? DISK_WRITES : DISK_READS),
  cgroups: ({ name, writes }) => lookUp(KERNEL, name) ?? (writes ? ['ENOSPC', 'EIO'] : ['EIO']),
  network: () => NETWORK,
  sink: () => ['UNAVAILABLE'],
  api: () => ['ECONNREFUSED', 'ECONNRESET', ...API_REFUSALS],
  drivers: () => DRIVERS,
};

/** All codes that the targets of a node without a cluster return. */
export const HOST_CODES: readonly string[] = [
  ...new Set([
    ...DISK_WRITES,
    ...[KERNEL, CALL_CODES].flatMap((codes) => Object.values(codes).flat()),
    ...RUNTIME,
    ...NETWORK,
  ]),
];

/** All codes. */
export const ALL_CODES: readonly string[] = [...HOST_CODES, ...API_REFUSALS];

/** Returns the codes with which a call may fail. */
export const codesOf = (call: OutsideCall): readonly string[] => CODES[call.target](call);

/** Error messages of the runtime itself, by the name of the call. */
const RUNTIME_MESSAGES: Readonly<Record<string, string>> = {
  runPodSandbox: 'failed to create containerd task: failed to create shim task: no space left on device: unknown',
  createContainer:
    'failed to create containerd container: failed to prepare extraction snapshot: no space left on device',
  startContainer: 'failed to create containerd task: failed to create shim task: OCI runtime create failed: unknown',
  stopContainer: 'failed to stop container: failed to kill container: ttrpc: closed: unknown',
  removeContainer: 'failed to remove container: failed to delete snapshot: device or resource busy',
  pullImage: 'failed to pull and unpack image: failed to copy: httpReadSeeker: failed open: unexpected status code 503',
};

/** Error messages of transport errors, by code. For all other codes the runtime itself writes the message. */
const TRANSPORT_MESSAGES: Readonly<Record<string, string>> = {
  UNAVAILABLE: 'error reading from server: EOF',
  DEADLINE_EXCEEDED: 'context deadline exceeded',
  CANCELLED: 'context canceled',
  INTERNAL: 'stream terminated by RST_STREAM with error code: INTERNAL_ERROR',
  RESOURCE_EXHAUSTED: 'grpc: received message larger than max (16777308 vs. 16777216)',
};

/** The suffixes of containerd's error messages, by code. */
const MESSAGE_SUFFIXES: Readonly<Record<string, string>> = {
  NOT_FOUND: 'not found',
  ALREADY_EXISTS: 'already exists',
  INVALID_ARGUMENT: 'invalid argument',
  FAILED_PRECONDITION: 'failed precondition',
  UNIMPLEMENTED: 'unknown method',
};

function runtimeError(name: string, code: CodeName): CallError {
  const transportMessage = lookUp(TRANSPORT_MESSAGES, code);
  if (transportMessage !== undefined) return new CallError(code, transportMessage);
  const suffix = lookUp(MESSAGE_SUFFIXES, code);
  const what = name === 'removePodSandbox' ? `${name}: cannot delete running task` : name;
  if (suffix !== undefined) return new CallError(code, `failed to ${what}: ${suffix}`);
  return new CallError(code, lookUp(RUNTIME_MESSAGES, name) ?? `failed to ${name}: ttrpc: closed: unknown`);
}

/** Whether the error comes from the runtime itself. After a transport error the effect of the call is unknown. */
export const isRuntimeError = (error: Error): boolean =>
  error instanceof CallError && lookUp(TRANSPORT_MESSAGES, status[error.code]) === undefined;

const API_SERVER = 'kubernetes.default.svc:443';

const DIALS = { ECONNREFUSED: 'refused', ECONNRESET: 'reset', EHOSTUNREACH: 'unreachable' } as const;
type Dial = keyof typeof DIALS;
const isDial = (code: string): code is Dial => Object.hasOwn(DIALS, code);

function dialError(about: string, code: string): Error {
  const colon = about.lastIndexOf(':');
  const address = { host: about.slice(0, colon), port: Number(about.slice(colon + 1)) };
  if (isDial(code)) return networkError(DIALS[code], address);
  return fileError(code === 'ENFILE' ? code : 'EMFILE', 'connect', about);
}

/** Returns the error of a failed call. A code that the target does not return is mapped to one that it does. */
export function callError(call: OutsideCall, code: string | undefined): Error {
  const known = codesOf(call);
  const index = code === undefined ? 0 : Math.max(0, ALL_CODES.indexOf(code));
  const targetCode = (code !== undefined && known.includes(code) ? code : known[index % known.length]) ?? 'EIO';
  // The codes of this target are gRPC codes.
  if (call.target === 'runtime') return runtimeError(call.name, targetCode as CodeName);
  if (call.target === 'drivers') return new Error(`rpc error: code = ${targetCode} desc = the driver has failed`);
  if (call.target === 'sink') return new Error('the API server is not available');
  if (call.target === 'api')
    return targetCode.startsWith('E') ? dialError(API_SERVER, targetCode) : new ApiRefusal(Number(targetCode));
  if (call.target === 'network') return dialError(call.about, targetCode);
  // The codes of these targets are file error codes.
  return fileError(targetCode as FileErrorCode, call.name, call.about);
}
