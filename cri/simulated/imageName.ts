import { createHash } from 'node:crypto';

/** An image's name in full, as containerd keeps it: `busybox` is `docker.io/library/busybox:latest`. */
export function fullImageName(name: string): string {
  if (name.startsWith('sha256:')) return name;
  const [first = '', ...rest] = name.split('/');
  const hasHost = rest.length > 0 && /[.:]|^localhost$/.test(first);
  const path = hasHost ? name : `docker.io/${rest.length > 0 ? '' : 'library/'}${name}`;
  const last = path.slice(path.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? path : `${path}:latest`;
}

const HOST = String.raw`(?:[A-Za-z0-9.-]+(?::\d+)?\/)?`;
const PATH = String.raw`[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`;
const REFERENCE = new RegExp(String.raw`^${HOST}${PATH}(?:\/${PATH})*(?::\w[\w.-]{0,127})?(?:@sha256:[0-9a-f]{64})?$`);

/** Whether this can be an image's name. */
export function isReference(name: string): boolean {
  return REFERENCE.test(name);
}

/** The name without tag and digest. */
export function repositoryOf(fullName: string): string {
  const [path = ''] = fullName.split('@');
  const colon = path.indexOf(':', path.lastIndexOf('/'));
  return colon === -1 ? path : path.slice(0, colon);
}

/** A digest that is always the same for the same text. */
export function digestOf(text: string): string {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
