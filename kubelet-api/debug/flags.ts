/** `/debug/flags/v`: how much is logged, changed while the agent runs (`pkg/server/routes/flags.go` of apiserver). */
import { NOSNIFF, sendText } from '../answers.ts';
import type { HttpRequest, HttpResponse, Route } from '../exchange.ts';

/** More than that is no number. */
const MOST_BYTES = 1_024;
const MOST = 2 ** 32 - 1;

/** Gives a kubelet's verbosity to whoever logs, when it is put there. */
export const flagsRoute = (setVerbosity: (verbosity: number) => void): Route => ({
  tree: '/debug/flags/v',
  answer: async ({ request, response }) => {
    if (request.method !== 'PUT') return tell(response, 406, 'unsupported http method');
    const body = await bodyOf(request);
    if (body === undefined) return tell(response, 400, 'error reading request body: http: request body too large');
    const why = problemWith(body);
    if (why !== undefined) return tell(response, 400, `strconv.ParseUint: parsing ${JSON.stringify(body)}: ${why}`);
    setVerbosity(Number(body));
    tell(response, 200, `successfully set klog.logging.verbosity to ${body}`);
  },
});

const tell = (response: HttpResponse, code: number, text: string): void =>
  sendText(response, { code, text: `${text}\n`, headers: { ...NOSNIFF, 'Content-Type': 'text/plain' } });

function problemWith(number: string): string | undefined {
  if (!/^\d+$/.test(number)) return 'invalid syntax';
  return Number(number) > MOST ? 'value out of range' : undefined;
}

/** Undefined: it is too long. */
async function bodyOf(request: HttpRequest): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    if (length > MOST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
