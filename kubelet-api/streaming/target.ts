import { Refusal } from './refusal.ts';

/** The pod that a request's path names and, for a container target, the container. */
export interface StreamTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly uid?: string;
  /** Empty if the path names a pod only. */
  readonly container: string;
}

/** Parses `/exec/{ns}/{pod}[/{uid}]/{container}`. Throws a `Refusal` if the path has a different form. */
export function parseContainerTarget(url: URL): StreamTarget {
  const [namespace = '', pod = '', ...rest] = splitPath(url);
  if (rest.length === 1) return { namespace, pod, container: rest[0] ?? '' };
  if (rest.length === 2) return { namespace, pod, uid: rest[0] ?? '', container: rest[1] ?? '' };
  throw createNotFoundRefusal();
}

/** Parses `/portForward/{ns}/{pod}[/{uid}]`. Throws a `Refusal` if the path has a different form. */
export function parsePodTarget(url: URL): StreamTarget {
  const [namespace, pod, uid, ...rest] = splitPath(url);
  if (namespace === undefined || pod === undefined || rest.length > 0) throw createNotFoundRefusal();
  return { namespace, pod, ...(uid === undefined ? {} : { uid }), container: '' };
}

function splitPath({ pathname }: URL): string[] {
  try {
    const segments = pathname.split('/').slice(2).map(decodeURIComponent);
    if (segments.every((part) => part !== '')) return segments;
  } catch {
    // Treat a path with invalid escapes as not found.
  }
  throw createNotFoundRefusal();
}

const createNotFoundRefusal = (): Refusal => new Refusal(404, '404: Page Not Found');
