import { Refusal } from './refusal.ts';

/** The pod, and optionally the container, that a path names. */
export interface StreamTarget {
  readonly namespace: string;
  readonly pod: string;
  readonly uid?: string;
  /** Empty if the path names a pod only. */
  readonly container: string;
}

/** Parses `/exec/{ns}/{pod}[/{uid}]/{container}`. Throws a `Refusal` if the path has a different form. */
export function containerTarget(url: URL): StreamTarget {
  const [namespace = '', pod = '', ...rest] = pathSegments(url);
  if (rest.length === 1) return { namespace, pod, container: rest[0] ?? '' };
  if (rest.length === 2) return { namespace, pod, uid: rest[0] ?? '', container: rest[1] ?? '' };
  throw pageNotFound();
}

/** Parses `/portForward/{ns}/{pod}[/{uid}]`. Throws a `Refusal` if the path has a different form. */
export function podTarget(url: URL): StreamTarget {
  const [namespace, pod, uid, ...rest] = pathSegments(url);
  if (namespace === undefined || pod === undefined || rest.length > 0) throw pageNotFound();
  return { namespace, pod, ...(uid === undefined ? {} : { uid }), container: '' };
}

function pathSegments({ pathname }: URL): string[] {
  try {
    const parts = pathname.split('/').slice(2).map(decodeURIComponent);
    if (parts.every((part) => part !== '')) return parts;
  } catch {
    // A path with invalid escapes matches no target.
  }
  throw pageNotFound();
}

const pageNotFound = (): Refusal => new Refusal(404, '404: Page Not Found');
