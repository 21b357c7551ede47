import { once } from 'node:events';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { beforeEach, expect, test } from '@jest/globals';
import { flagsRoute } from '../../../kubelet-api/debug/flags.ts';
import { serve } from '../logs/servedLogs.ts';

const set: number[] = [];
let port = 0;

beforeEach(async () => {
  ({ port } = await serve(flagsRoute((verbosity) => void set.push(verbosity))));
});

test.each([
  ['PUT', '5', 200, 'successfully set klog.logging.verbosity to 5\n', [5]],
  ['PUT', '0', 200, 'successfully set klog.logging.verbosity to 0\n', [0]],
  ['PUT', '', 400, 'strconv.ParseUint: parsing "": invalid syntax\n', []],
  ['PUT', '5\n', 400, 'strconv.ParseUint: parsing "5\\n": invalid syntax\n', []],
  ['PUT', '-1', 400, 'strconv.ParseUint: parsing "-1": invalid syntax\n', []],
  ['PUT', '4294967296', 400, 'strconv.ParseUint: parsing "4294967296": value out of range\n', []],
  ['PUT', '1'.repeat(2_000), 400, 'error reading request body: http: request body too large\n', []],
  ['GET', '', 406, 'unsupported http method\n', []],
  ['POST', '5', 406, 'unsupported http method\n', []],
])('a %s request with the body %j has the response of a kubelet', async (method, body, code, answer, verbosities) => {
  set.length = 0;
  const clientRequest = request({ host: '127.0.0.1', port, path: '/debug/flags/v', method, agent: false });
  clientRequest.end(body);
  const [response] = await once(clientRequest, 'response');
  expect([response.statusCode, await text(response), response.headers['content-type']]).toEqual([
    code,
    answer,
    'text/plain',
  ]);
  expect(set).toEqual(verbosities);
});
