import { expect, test } from '@jest/globals';
import { handlerText } from '../../show/handlerText.ts';

test.each([
  ['exec /bin/drain', { exec: { command: ['/bin/drain'] } }],
  ['exec /bin/drain …', { exec: { command: ['/bin/drain', '--all'] } }],
  ['http-get :8080/stop', { httpGet: { port: 8080, path: '/stop' } }],
  ['http-get 10.0.0.1:web/', { httpGet: { port: 'web', host: '10.0.0.1' } }],
  ['tcp-socket :80', { tcpSocket: { port: 80 } }],
  ['sleep 5s', { sleep: { seconds: 5 } }],
  ['without an action', {}],
])('a hook is shown as %s', (text, handler) => expect(handlerText(handler)).toBe(text));
