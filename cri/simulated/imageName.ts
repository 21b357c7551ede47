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
