/** What the server tells of its own process: `/statusz` and `/flagz`, and the configuration at `/configz`. */
import { sendJson, sendText } from '../answers.ts';
import type { HttpResponse, Route } from '../exchange.ts';

interface Status {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  readonly version: string;
  /** The version of Kubernetes that it is like. */
  readonly emulationVersion: string;
  readonly runtimeVersion: string;
  readonly paths: () => readonly string[];
}

const NOTE =
  '\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.\n';
const JSON_TYPE = (kind: string) => `application/json;v=v1beta1;g=config.k8s.io;as=${kind}`;

/** As `pkg/server/statusz` of apiserver lays it out. */
export const statuszRoute = (status: Status): Route => ({
  tree: '/statusz',
  answer: async ({ request, response }) => {
    const now = status.now();
    const seconds = Math.floor((now - status.startedAt) / 1_000);
    const fields = {
      ...{ startTime: new Date(status.startedAt).toISOString().replace(/\.\d+Z$/, 'Z'), uptimeSeconds: seconds },
      ...{ goVersion: status.runtimeVersion, binaryVersion: status.version, emulationVersion: status.emulationVersion },
      paths: status.paths(),
    };
    const lines = [
      `Started: ${unixDate(status.startedAt)}`,
      `Up: ${upFor(seconds)}`,
      `Go version: ${fields.goVersion}`,
      `Binary version: ${fields.binaryVersion}`,
      `Emulation version: ${fields.emulationVersion}`,
      `Paths: ${fields.paths.join(' ')}`,
    ];
    tell(response, request.headers.accept, { kind: 'Statusz', text: `\n${lines.join('\n')}`, fields });
  },
});

/** Flags as they were given; none of them holds a secret that may be told. */
export const flagzRoute = (flags: ReadonlyMap<string, string>): Route => ({
  tree: '/flagz',
  answer: async ({ request, response }) => {
    const sorted = [...flags].toSorted(([one], [other]) => (one < other ? -1 : 1));
    const text = sorted.map(([name, value]) => `${name}: ${value}`).join('\n');
    tell(response, request.headers.accept, { kind: 'Flagz', text, fields: { flags: Object.fromEntries(sorted) } });
  },
});

/** The configuration, compiled when somebody asks for it. */
export const configzRoute = (config: () => Promise<object> | object): Route => ({
  tree: '/configz',
  answer: async ({ response }) => {
    sendJson(response, JSON.stringify({ kubeletconfig: await config() }));
  },
});

interface Page {
  readonly kind: string;
  readonly text: string;
  readonly fields: object;
}

/** As text, unless it is asked for as JSON by its whole name. */
function tell(response: HttpResponse, accept: string | undefined, { kind, text, fields }: Page): void {
  const types = (accept ?? '').split(',').map((each) => each.replaceAll(/\s|;q=[\d.]+/g, ''));
  if (types.includes(JSON_TYPE(kind))) {
    const object = { kind, apiVersion: 'config.k8s.io/v1beta1', metadata: { name: 'kubelet' }, ...fields };
    sendJson(response, JSON.stringify(object));
    return;
  }
  const takesText = types.some((type) => ['', '*/*', 'text/*', 'text/plain'].includes(type));
  if (takesText) sendText(response, { code: 200, text: `\nkubelet ${kind.toLowerCase()}${NOTE}${text}\n` });
  else sendText(response, { code: 406, text: `the server only supports text/plain and ${JSON_TYPE(kind)}\n` });
}

function upFor(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60];
  return `${hours} hr ${String(minutes).padStart(2, '0')} min ${String(seconds % 60).padStart(2, '0')} sec`;
}

/** `Fri Jan  2 03:04:05 UTC 2026`: Go's `time.UnixDate`. */
function unixDate(ms: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(ms).toUTCString().split(/,? /);
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}
