/** Faults of parts of an API server that last for a while. */
import { networkError } from '../../../actors/simulated/connection.ts';
import { unlessAborted } from '../../../base/async/unlessAborted.ts';
import type { ApiRequest } from '../../apiserver/requests/request.ts';
import { ApiRefusal } from './apiRefusal.ts';
import type { WatchStream } from './watchStream.ts';

/** The resources and subresources that can fail separately. */
export const API_PARTS = ['configmaps', 'secrets', 'clustertrustbundles', 'token'] as const;
export type ApiPart = (typeof API_PARTS)[number];

/**
 * Requests fail, are forbidden, hang, or take effect and lose their responses (`lost`). Watches that resume get 410
 * Gone (`gone`), deliver nothing (`silent`), or break as soon as they are open (`cut`).
 */
export const API_PART_FAULTS = ['failing', 'forbidden', 'hanging', 'lost', 'gone', 'silent', 'cut'] as const;
export type ApiPartFault = (typeof API_PART_FAULTS)[number];

const isPart = (name: string): name is ApiPart => API_PARTS.some((each) => each === name);

/** Returns the part that a request is for, or undefined if it is for none of them. */
export function partOf({ url }: Pick<ApiRequest, 'url'>): ApiPart | undefined {
  const names = new URL(url, 'https://localhost').pathname.split('/');
  return names.findLast(isPart);
}

const REFUSALS: ReadonlyMap<ApiPartFault, number> = new Map([
  ['failing', 500],
  ['forbidden', 403],
]);
const GONE = 410;

interface ActiveFault {
  readonly how: ApiPartFault;
  /** Rejects the requests that hang. */
  readonly ended: PromiseWithResolvers<never>;
}

const ADDRESS = { host: 'kubernetes.default.svc', port: 443 };
const reset = (): Error => networkError('reset', ADDRESS);

export class ApiPartFaults {
  readonly #active = new Map<ApiPart, ActiveFault>();
  readonly #streams = new Map<WatchStream, ApiPart>();

  get hasFault(): boolean {
    return this.#active.size > 0;
  }

  start(part: ApiPart, how: ApiPartFault): void {
    this.end(part);
    const ended = Promise.withResolvers<never>();
    ended.promise.catch(() => {});
    this.#active.set(part, { how, ended });
    for (const stream of this.#streamsOf(part)) this.#disturb(stream, how);
  }

  /** Ends a fault. Requests that hung fail, and silent watches break. */
  end(part: ApiPart): void {
    const activeFault = this.#active.get(part);
    this.#active.delete(part);
    activeFault?.ended.reject(reset());
    if (activeFault?.how === 'silent') for (const stream of this.#streamsOf(part)) stream.cut(reset());
  }

  /** Applies the fault of a request before the request takes effect. Throws if the request fails. */
  async before(request: ApiRequest, signal: AbortSignal): Promise<void> {
    const { how, ended } = this.#activeFaultOf(request) ?? {};
    if (how === undefined || ended === undefined) return;
    const refusal = REFUSALS.get(how);
    if (refusal !== undefined) throw new ApiRefusal(refusal);
    if (how === 'gone' && isResumedWatch(request)) throw new ApiRefusal(GONE);
    if (how === 'hanging') await unlessAborted(ended.promise, signal);
  }

  /** Throws if the response is lost. */
  after(request: ApiRequest): void {
    if (this.#activeFaultOf(request)?.how === 'lost') throw reset();
  }

  /** Called when a watch has been opened. */
  opened(request: ApiRequest, stream: WatchStream): void {
    const part = partOf(request);
    if (part === undefined) return;
    this.#streams.set(stream, part);
    const { how } = this.#active.get(part) ?? {};
    if (how !== undefined) this.#disturb(stream, how);
  }

  closed(stream: WatchStream): void {
    this.#streams.delete(stream);
  }

  #disturb(stream: WatchStream, how: ApiPartFault): void {
    if (how === 'silent') stream.silence();
    if (how === 'cut' || how === 'gone' || how === 'forbidden') stream.cut(reset());
  }

  #streamsOf(part: ApiPart): WatchStream[] {
    return [...this.#streams].flatMap(([stream, of]) => (of === part ? [stream] : []));
  }

  #activeFaultOf(request: ApiRequest): ActiveFault | undefined {
    const part = partOf(request);
    return part === undefined ? undefined : this.#active.get(part);
  }
}

/** Whether the request resumes a watch. */
function isResumedWatch({ url }: ApiRequest): boolean {
  const { searchParams } = new URL(url, 'https://localhost');
  return searchParams.get('watch') === 'true' && searchParams.get('sendInitialEvents') !== 'true';
}
