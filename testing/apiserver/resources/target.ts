/** The target of a request, from its path. */
import type { Resource, Subresource } from './resource.ts';
import { resourceNamed } from './resources.ts';

export interface Target {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  /** Undefined for the collection. */
  readonly name: string | undefined;
  readonly subresource: Subresource | undefined;
}

/** The decoded parts of an API path. */
interface Path {
  readonly group: string;
  readonly version: string;
  readonly rest: readonly string[];
}

function pathOf(pathname: string): Path | undefined {
  const parts = pathname.split('/').slice(1).map(decodeOrUndefined);
  if (parts.some((part) => part === undefined || part === '')) return undefined;
  const [root, ...rest] = parts as string[];
  const [group, version, ...others] = root === 'api' ? ['', ...rest] : rest;
  const isOfApi = root === 'api' || root === 'apis';
  return isOfApi && group !== undefined && version !== undefined ? { group, version, rest: others } : undefined;
}

function decodeOrUndefined(part: string): string | undefined {
  try {
    return decodeURIComponent(part);
  } catch {
    return undefined;
  }
}

/** Returns the target of a path. Undefined if nothing is served there. */
export function targetOf(pathname: string): Target | undefined {
  const path = pathOf(pathname);
  if (path === undefined) return undefined;
  const { group, version, rest } = path;
  // The path of a namespace is also the prefix of the paths of its objects.
  const isWithin = rest[0] === 'namespaces' && rest[2] !== undefined && isResource(path, rest[2]);
  const [namespace, [plural = '', name, below, ...more]] = isWithin ? [rest[1], rest.slice(2)] : [undefined, rest];
  const resource = resourceNamed(group, version, plural);
  if (resource === undefined || more.length > 0) return undefined;
  // Requests across all namespaces can only address the collection.
  if (isWithin ? !resource.isNamespaced : resource.isNamespaced && name !== undefined) return undefined;
  const subresource = resource.subresources.find((each) => each.name === below);
  return below !== undefined && subresource === undefined ? undefined : { resource, namespace, name, subresource };
}

const isResource = ({ group, version }: Path, name: string): boolean =>
  resourceNamed(group, version, name) !== undefined;
