/** Serves pages about the agent's own process: `/statusz`, `/flagz` and the configuration at `/configz`. */
import { sendJson, sendText } from '../answers.ts';
import type { HttpResponse, Route } from '../exchange.ts';
import { STATUSZ_PATH } from './paths.ts';

interface Status {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  /** The version of the kubelet that the node reports, e.g. `v1.36.0+statelet.0.1.0`. */
  readonly kubeletVersion: string;
  /** The version of Node.js. The kubelet reports the version of Go in this field. */
  readonly runtimeVersion: string;
  /** The listed paths (`PathTable.statuszPaths`), which are known once all routes exist. */
  readonly paths: () => readonly string[];
}

const STATUSZ_NOTE =
  '\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n';
const toJsonMediaType = (kind: string) => `application/json;v=v1beta1;g=config.k8s.io;as=${kind}`;

/**
 * Serves the status page as text or JSON in the kubelet's format (`pkg/server/statusz` of apiserver). The kubelet picks
 * a delimiter for the text at random, but here it is always the first one.
 */
export const statuszRoute = (status: Status): Route => ({
  pathPrefix: STATUSZ_PATH,
  handle: async ({ request, response }) => {
    const uptimeSeconds = Math.max(0, Math.floor((status.now() - status.startedAt) / 1_000));
    const statusFields = {
      startTime: new Date(status.startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
      uptimeSeconds,
      goVersion: status.runtimeVersion,
      ...kubernetesVersions(status.kubeletVersion),
      paths: status.paths(),
    };
    const statusLines = [
      `Started: ${formatUnixDate(status.startedAt)}`,
      `Up: ${formatUptime(uptimeSeconds)}`,
      `Go version: ${statusFields.goVersion}`,
      `Binary version: ${statusFields.binaryVersion}`,
      `Emulation version: ${statusFields.emulationVersion}`,
      `Paths: ${statusFields.paths.join(' ')}`,
    ];
    sendPage(response, request.headers.accept, {
      kind: 'Statusz',
      text: `\n${statusLines.join('\n')}`,
      fields: statusFields,
    });
  },
});

/** Returns `1.36.0` and `1.36` for `v1.36.0+statelet.0.1.0`, in the format of the kubelet's `String()` for versions. */
function kubernetesVersions(kubeletVersion: string): { binaryVersion: string; emulationVersion: string } {
  const [binaryVersion = ''] = kubeletVersion.replace(/^v/, '').split('+');
  return { binaryVersion, emulationVersion: binaryVersion.split('.').slice(0, 2).join('.') };
}

/**
 * Lists every flag with its value. The kubelet picks a delimiter at random (`pkg/server/flagz/textserializer.go` of
 * apiserver), but here it is always a space.
 */
export const flagzRoute = (flags: ReadonlyMap<string, string>): Route => ({
  pathPrefix: '/flagz',
  handle: async ({ request, response }) => {
    const sortedFlags = [...flags].toSorted(([left], [right]) => (left < right ? -1 : 1));
    const flagsText = sortedFlags.map(([name, value]) => `${name} ${value}`).join('\n');
    sendPage(response, request.headers.accept, {
      kind: 'Flagz',
      text: flagsText,
      fields: { flags: Object.fromEntries(sortedFlags) },
    });
  },
});

/** Serves the configuration, which is compiled on each request. */
export const createConfigzRoute = (config: () => Promise<object> | object): Route => ({
  pathPrefix: '/configz',
  handle: async ({ response }) => {
    sendJson(response, JSON.stringify({ kubeletconfig: await config() }));
  },
});

interface Page {
  readonly kind: string;
  readonly text: string;
  readonly fields: object;
}

/** Sends the text, or JSON to a client whose Accept header contains the complete media type. */
function sendPage(response: HttpResponse, accept: string | undefined, { kind, text, fields }: Page): void {
  const acceptedTypes = (accept ?? '').split(',').map((each) => each.replaceAll(/\s|;q=[\d.]+/g, ''));
  if (acceptedTypes.includes(toJsonMediaType(kind))) {
    const pageObject = { kind, apiVersion: 'config.k8s.io/v1beta1', metadata: { name: 'kubelet' }, ...fields };
    sendJson(response, JSON.stringify(pageObject));
    return;
  }
  const acceptsText = acceptedTypes.some((type) => ['', '*/*', 'text/*', 'text/plain'].includes(type));
  if (acceptsText) sendText(response, { code: 200, text: `\nkubelet ${kind.toLowerCase()}${STATUSZ_NOTE}${text}\n` });
  else sendText(response, { code: 406, text: `the server only supports text/plain and ${toJsonMediaType(kind)}\n` });
}

function formatUptime(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours} hr ${String(minutes).padStart(2, '0')} min ${String(seconds % 60).padStart(2, '0')} sec`;
}

/** Formats a time in the layout of Go's `time.UnixDate`, e.g. `Fri Jan  2 03:04:05 UTC 2026`. */
function formatUnixDate(ms: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}
