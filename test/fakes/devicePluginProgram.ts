/**
 * A device plugin as a process: `node devicePluginProgram.ts DIRECTORY OPTIONS`, with the options as JSON. It registers
 * as soon as the node listens, and again after each restart of the node, which removes the socket of the plugin. It
 * writes one line per call.
 */
import { existsSync } from 'node:fs';
import { type FakeDevicePlugin, startDevicePlugin } from './devicePlugin.ts';

const CHECK_MS = 50;

const [directory = '', json = '{}'] = process.argv.slice(2);
const options = JSON.parse(json);
const socketName = `${process.pid}.sock`;
let plugin: FakeDevicePlugin | undefined;

async function check(): Promise<void> {
  if (plugin !== undefined && !existsSync(`${directory}/${socketName}`)) {
    plugin.close();
    plugin = undefined;
  }
  if (plugin !== undefined || !existsSync(`${directory}/kubelet.sock`)) return;
  plugin = await startDevicePlugin(directory, options, {
    socketName,
    onCall: (call) => process.stdout.write(`${JSON.stringify(call)}\n`),
  });
  await plugin.register().catch((error: unknown) => {
    plugin?.close();
    plugin = undefined;
    throw error;
  });
  process.stdout.write('"registered"\n');
}

let last = Promise.resolve();
setInterval(() => {
  last = last.then(check).catch((error: Error) => void process.stderr.write(`${error.message}\n`));
}, CHECK_MS);
process.stdin.on('data', (chunk) => plugin?.list(JSON.parse(String(chunk))));
process.stdin.on('end', () => process.exit(0));
