/** Serves `/debug/flags/v`, which changes the log verbosity at run time (`pkg/server/routes/flags.go` of apiserver). */
import { NOSNIFF_HEADERS, sendText } from '../answers.ts';
import type { HttpRequest, HttpResponse, Route } from '../exchange.ts';

/** Maximum size of the request body, in bytes. */
const MAX_BODY_BYTES = 1_024;
const MAX_VERBOSITY = 2 ** 32 - 1;

/** Serves PUT requests whose body is the log verbosity to set. */
export const flagsRoute = (setVerbosity: (verbosity: number) => void): Route => ({
  pathPrefix: '/debug/flags/v',
  handle: async ({ request, response }) => {
    if (request.method !== 'PUT') return sendResponse(response, 406, 'unsupported http method');
    const body = await readBody(request);
    if (body === undefined)
      return sendResponse(response, 400, 'error reading request body: http: request body too large');
    const why = findVerbosityProblem(body);
    if (why !== undefined)
      return sendResponse(response, 400, `strconv.ParseUint: parsing ${JSON.stringify(body)}: ${why}`);
    setVerbosity(Number(body));
    sendResponse(response, 200, `successfully set klog.logging.verbosity to ${body}`);
  },
});

const sendResponse = (response: HttpResponse, code: number, text: string): void =>
  sendText(response, { code, text: `${text}\n`, headers: { ...NOSNIFF_HEADERS, 'Content-Type': 'text/plain' } });

function findVerbosityProblem(number: string): string | undefined {
  if (!/^\d+$/.test(number)) return 'invalid syntax';
  return Number(number) > MAX_VERBOSITY ? 'value out of range' : undefined;
}

/** Reads the request body. Returns undefined if it is too long. */
async function readBody(request: HttpRequest): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let totalBytes = 0;
  for await (const chunk of request) {
    totalBytes += chunk.length;
    if (totalBytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
