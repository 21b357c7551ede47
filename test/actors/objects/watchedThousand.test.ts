import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { systemClock } from '../../../base/time/clock.ts';
import { runProgram } from '../../../host/program.ts';
import { Api } from '../../../testing/apiserver/api.ts';
import { serve } from '../../../testing/apiserver/serving/server.ts';
import { Authority } from '../../testing/apiserver/serving/certificates.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

test('a thousand watched objects take at most 20 MiB of memory', async () => {
  const user = { name: 'admin', groups: ['system:masters'] };
  const api = new Api({ clock: systemClock, tokens: new Map([['secret', user]]), address: '127.0.0.1' });
  for (let index = 0; index < 1_000; index += 1) {
    const body = JSON.stringify({ metadata: { name: `c${index}` }, data: { key: 'x'.repeat(100) } });
    await api.respond({ method: 'POST', url: MAPS, headers: new Map(), body, user });
  }
  const authority = new Authority();
  const server = await serve(api, { tls: authority.issue('/CN=kube-apiserver') });
  try {
    const script = join(import.meta.dirname, 'watchedThousand.ts');
    const input = JSON.stringify({ port: server.port, ca: authority.cert, token: 'secret' });
    const { signal } = new AbortController();
    const args = ['--expose-gc', '--disable-warning=ExperimentalWarning', script];
    const report = JSON.parse(await runProgram(process.execPath, args, { signal, timeoutMs: 100_000, input }));
    // The TLS and HTTP/2 sessions take another 3 MiB, which are visible only in the memory of the whole process.
    expect(report.held).toBeLessThan(17);
  } finally {
    await server.close();
    authority.remove();
  }
}, 120_000);
