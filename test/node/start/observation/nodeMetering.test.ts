/**
 * A node whose metrics are counted from its start. Its API shows them to authorized users, and to everybody on a
 * separate port.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { startSimulatedNode } from '../../../../actors/simulated/startSimulatedNode.ts';
import { systemClock } from '../../../../base/time/clock.ts';
import { inProcessCri } from '../../../../cri/simulated/inProcessCri.ts';
import { readFlags } from '../../../../node/config/flags.ts';
import { compileConfig } from '../../../../node/config/nodeConfig.ts';
import { type NodeApiServer, serveNodeApi } from '../../../../node/serve/serveNodeApi.ts';
import { createNodeMetering, type NodeMetering } from '../../../../node/start/observation/nodeMetering.ts';
import { eventually } from '../../../e2e/support/eventually.ts';
import { freePort } from '../../../e2e/support/freePort.ts';
import { readFamilies } from '../../../kubelet-api/metrics/support/scraped.ts';

const ends: (() => unknown)[] = [];

afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

async function servedAndCounted(flags: Readonly<Record<string, string>>) {
  const directory = mkdtempSync(join(tmpdir(), 'counted-'));
  ends.push(() => rmSync(directory, { recursive: true, force: true }));
  const config = compileConfig({
    flags: readFlags({ '--port': '0', '--healthz-port': '0', '--root-dir': directory, ...flags }),
    defaults: { hostname: 'node-1', addresses: ['192.0.2.1'], rootDirectory: '/r', podLogsDirectory: directory },
  });
  const errors: unknown[] = [];
  const counted: NodeMetering = await createNodeMetering(config, (...error) => void errors.push(error));
  const parts = counted.observers;
  const node = await startSimulatedNode({ parts });
  ends.push(() => node.stop());
  let served: NodeApiServer | undefined;
  counted.start(node.agent, { flightRecorder: undefined, api: () => served });
  const say = () => {};
  const logger = { info: say, warn: say, error: say };
  const cri = counted.withCallMetrics(inProcessCri(node.runtime));
  served = await serveNodeApi({ config, agent: node.agent, cri, clock: systemClock, logger, metrics: counted.metrics });
  ends.push(() => served?.close());
  await cri.version({ version: 'v1' }, { signal: new AbortController().signal });
  return { directory, node, errors, served };
}

test('metrics are readable without credentials at the read-only port, if that is configured', async () => {
  const port = await freePort();
  const { errors } = await servedAndCounted({ '--read-only-port': String(port), '--address': '127.0.0.1' });
  const get = async (path: string) => await (await fetch(`http://127.0.0.1:${port}${path}`)).text();
  const text = await eventually('the runtime was listed', async () => {
    const shown = await get('/metrics');
    return shown.includes('kubelet_pleg_last_seen_seconds ') ? shown : undefined;
  });
  const families = readFamilies(text);
  expect(families.get('kubelet_node_name')?.samples).toEqual(new Map([['kubelet_node_name{node="node-1"}', 1]]));
  const operations = families.get('kubelet_runtime_operations_total')?.samples;
  expect(operations?.get('kubelet_runtime_operations_total{operation_type="version"}')).toBe(1);
  const [build = ''] = families.get('kubernetes_build_info')?.samples.keys() ?? [];
  expect(build).toContain('git_version="v1.36.0+statelet.');
  expect([1, 2]).toContain(families.get('kubelet_cgroup_version')?.samples.get('kubelet_cgroup_version'));
  const asked = [...(families.get('kubelet_http_requests_total')?.samples.keys() ?? [])];
  expect(asked.every((series) => series.includes('server_type="readonly"'))).toBe(true);
  expect(await get('/metrics/probes')).toContain('process_start_time_seconds');
  expect(await get('/metrics/slis')).not.toContain('name="syncloop"');
  await get('/healthz');
  expect(await get('/metrics/slis')).toContain('kubernetes_healthcheck{name="syncloop",type="healthz"} 1');
  expect(errors).toEqual([]);
});

test('metrics require a token if access is checked', async () => {
  const { directory, served } = await servedAndCounted({});
  await eventually('it is served', () => served?.port() || undefined);
  const token = readFileSync(join(directory, 'statelet', 'server-token'), 'utf8').trim();
  const code = async (headers: Record<string, string>) =>
    await new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port: served?.port(), path: '/metrics', rejectUnauthorized: false, headers };
      request(options, (response) => {
        response.resume();
        resolve(response.statusCode);
      })
        .once('error', reject)
        .end();
    });
  expect(await code({})).toBe(401);
  expect(await code({ authorization: `Bearer ${token}` })).toBe(200);
});
