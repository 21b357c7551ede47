import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SimulatedClock } from '../../../../../../actors/simulated/simulatedClock.ts';
import { ApiServer } from '../../../../../../testing/apiserver/apiServer.ts';
import { isObject, type Json } from '../../../../../../testing/apiserver/json.ts';
import { answers } from '../../../../../kubernetes/api/answers/answers.ts';

let server: ApiServer;

beforeAll(async () => {
  server = await ApiServer.start(new SimulatedClock());
});
afterAll(() => server.close());

/** Returns `accepted`, or the server's error message for a new pod without the pod's name. */
async function answerTo(pod: object): Promise<string> {
  const body: Json = JSON.parse(JSON.stringify(pod));
  try {
    await server.request('POST', '/api/v1/namespaces/default/pods?dryRun=All', isObject(body) ? body : {});
    return 'accepted';
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.replace(/^.*?Pod "web" is invalid: /s, '').replace(/^.*?pods "web" (?=is forbidden)/s, '');
  }
}

test.each(answers)('a new pod receives the response of a kube-apiserver: $case', async ({ pod, answer }) => {
  expect(await answerTo(pod)).toBe(answer);
});
