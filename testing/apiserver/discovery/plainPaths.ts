/** Non-resource paths: health, version and schemas (`apiserver/pkg/server/{healthz,routes}`). */
import { KUBERNETES_VERSION } from '../../../kubernetes/api/version.ts';
import type { Json } from '../json.ts';

export interface PlainResponse {
  readonly code: number;
  readonly contentType: string | undefined;
  readonly body: string | Buffer;
}

const TEXT = 'text/plain; charset=utf-8';
const HEALTH = /^\/(?:healthz|livez|readyz)(?:\/[\w-]+)*$/;

const textResponse = (body: string, code = 200): PlainResponse => ({ code, contentType: TEXT, body });

/** Returns the response at a non-resource path, or undefined for all other paths. */
export function plainPathResponse(pathname: string): PlainResponse | undefined {
  if (HEALTH.test(pathname)) return textResponse('ok');
  if (pathname === '/version' || pathname === '/version/') return jsonResponse(versionInfo);
  return undefined;
}

export const jsonResponse = (value: Json, contentType = 'application/json'): PlainResponse => ({
  code: 200,
  contentType,
  body: JSON.stringify(value),
});

/** The response for an unknown non-resource path. */
export const pageNotFound: PlainResponse = textResponse('404 page not found\n', 404);

const [major = '', minor = ''] = KUBERNETES_VERSION.split('.');

const versionInfo = {
  major,
  minor,
  emulationMajor: major,
  emulationMinor: minor,
  minCompatibilityMajor: major,
  minCompatibilityMinor: String(Number(minor) - 1),
  gitVersion: `v${KUBERNETES_VERSION}.0`,
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};
