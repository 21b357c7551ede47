/** The runtime as one agent accesses it. */
import type { Clock } from '../../../base/time/clock.ts';
import { CallError } from '../../../cri/simulated/faults/callError.ts';
import type { CallName, RequestOf, ResponseOf } from '../../../cri/simulated/faults/callNames.ts';
import type { CallableRuntime } from '../../../cri/simulated/inProcessCri.ts';
import type { SimulatedRuntime } from '../../../cri/simulated/runtime.ts';
import { callError, isRuntimeError } from '../faults/failures.ts';
import type { Gate, OutsideCall } from '../run/gate.ts';

/** The calls that change nothing in the runtime. */
const READS: ReadonlySet<CallName> = new Set([
  ...(['version', 'status', 'runtimeConfig', 'podSandboxStatus', 'listPodSandbox'] as const),
  ...(['listContainers', 'containerStatus', 'containerStats', 'listImages', 'imageStatus'] as const),
  'imageFsInfo',
]);

/**
 * Returns the object of a request: the ID of a container or sandbox, the UID of the pod of a new sandbox, or an image.
 */
function requestObject(request: object): string {
  const fields = ['containerId', 'podSandboxId'] as const;
  for (const field of fields) {
    const id: unknown = Object.hasOwn(request, field) ? Reflect.get(request, field) : undefined;
    if (typeof id === 'string' && id !== '') return id;
  }
  // The remaining requests with this field are those about images.
  if ('image' in request) return (request as RequestOf<'imageStatus'>).image?.image ?? '';
  if (!Object.hasOwn(request, 'runtimeHandler')) return '';
  // Only `runPodSandbox` requests have this field.
  return (request as RequestOf<'runPodSandbox'>).config?.metadata?.uid ?? '';
}

const graceOf = (name: CallName, request: object): Pick<OutsideCall, 'graceSeconds'> =>
  name === 'stopContainer' && 'timeout' in request ? { graceSeconds: Number(request.timeout) } : {};

/** Passes each call and each event through the gate. Timeouts use the agent's clock. */
export function gatedRuntime(runtime: SimulatedRuntime, gate: Gate, clock: Clock): CallableRuntime {
  return {
    clock,
    get isUp() {
      return runtime.isUp;
    },
    call: <K extends CallName>(name: K, request: RequestOf<K>, signal: AbortSignal): Promise<ResponseOf<K>> => {
      const about = { about: requestObject(request), ...graceOf(name, request) };
      const call = { target: 'runtime', name, writes: !READS.has(name), ...about } as const;
      return gate.pass(call, {
        act: () => gate.withCallSignal(signal, (callSignal) => runtime.call(name, request, callSignal)),
        failure: (code) => {
          const error = callError(call, code);
          if (name === 'startContainer' && isRuntimeError(error)) runtime.failStart(call.about, error.message);
          return error;
        },
        signal,
      });
    },
    subscribe: ({ onEvent, onBreak }) => {
      const call = { target: 'runtime', name: 'getContainerEvents', about: '', writes: false } as const;
      const listener: Parameters<SimulatedRuntime['subscribe']>[0] = {
        onEvent: (event) => void (gate.isClosed || onEvent(event)),
        onBreak: (error) => void (gate.isClosed || onBreak(error)),
      };
      try {
        const [act, failure] = [() => runtime.subscribe(listener), (code: string | undefined) => callError(call, code)];
        return gate.passSync(call, { act, failure, undo: (stop) => stop() });
      } catch (error) {
        if (!(error instanceof CallError)) throw error;
        listener.onBreak(error);
        return () => {};
      }
    },
  };
}
