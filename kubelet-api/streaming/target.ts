import { Refusal } from './refusal.ts';

/** Which pod, and what in it, a path means. */
export interface StreamTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly uid?: string;
  /** Empty where the path is of a pod. */
  readonly container: string;
}

/** Of `/exec/{ns}/{pod}[/{uid}]/{container}`; throws a `Refusal` where there is nothing at the path. */
export function containerTarget(url: URL): StreamTarget {
  const [namespace = '', pod = '', ...rest] = partsOf(url);
  if (rest.length === 1) return { namespace, pod, container: rest[0] ?? '' };
  if (rest.length === 2) return { namespace, pod, uid: rest[0] ?? '', container: rest[1] ?? '' };
  throw nothingThere();
}

/** Of `/portForward/{ns}/{pod}[/{uid}]`; throws a `Refusal` where there is nothing at the path. */
export function podTarget(url: URL): StreamTarget {
  const [namespace, pod, uid, ...rest] = partsOf(url);
  if (namespace === undefined || pod === undefined || rest.length > 0) throw nothingThere();
  return { namespace, pod, ...(uid === undefined ? {} : { uid }), container: '' };
}

function partsOf({ pathname }: URL): string[] {
  try {
    const parts = pathname.split('/').slice(2).map(decodeURIComponent);
    if (parts.every((part) => part !== '')) return parts;
  } catch {
    // Nothing can be there either.
  }
  throw nothingThere();
}

const nothingThere = (): Refusal => new Refusal(404, '404: Page Not Found');
