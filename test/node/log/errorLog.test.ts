import { describe, expect, test } from '@jest/globals';
import pino from 'pino';
import { NodeFailure } from '../../../base/failure.ts';
import { createErrorLog } from '../../../node/log/errorLog.ts';
import { createLogger } from '../../../node/log/logger.ts';

function log() {
  const lines: { level: string; msg: string }[] = [];
  const destination = {
    write: (line: string) => {
      const { level, msg } = JSON.parse(line);
      lines.push({ level, msg });
    },
  };
  const logger = pino({ level: 'debug', formatters: { level: (label) => ({ level: label }) } }, destination);
  return { lines, ...createErrorLog(logger) };
}

describe('a failure outside of the pods', () => {
  test.each([
    ['store', 'error'],
    ['sources', 'error'],
    ['subscriber', 'error'],
    ['nodeAgent', 'error'],
    ['relist', 'warn'],
    ['containerEvents', 'warn'],
    ['objects', 'warn'],
    ['tokens', 'warn'],
    ['images', 'warn'],
    ['readCertificate', 'warn'],
    ['requestCertificate', 'warn'],
    ['awaitCertificate', 'warn'],
    ['pullImage', 'debug'],
  ])('of %s is logged as %s', async (source, level) => {
    const { lines, onError } = log();
    onError(source, new Error('no space left'));
    expect(lines).toEqual([{ level, msg: `${source} failed: no space left` }]);
  });

  test('has its cause on the same line, and no stack if the cause is external', async () => {
    let text = '';
    const destination = {
      write: (line: string) => {
        text += line;
      },
    };
    const logging = { format: 'json' as const, verbosity: 0 };
    const { logger } = await createLogger({ logging, isSimulated: false, destination });
    const { onError } = createErrorLog(logger);
    const cause = new Error('connect ENOENT /run/containerd.sock');
    onError('relist', new NodeFailure('RuntimeUnavailable', 'the runtime does not answer', { cause }));
    expect(JSON.parse(text)).toMatchObject({
      reason: 'RuntimeUnavailable',
      msg: 'relist failed: the runtime does not answer: connect ENOENT /run/containerd.sock',
    });
    expect(text).not.toMatch(/"err(Verbose)?"/);
  });

  test('is logged for debugging only if a call does not reach the runtime, whose health is reported separately', async () => {
    const { lines, onError } = log();
    const cause = Object.assign(new Error('14 UNAVAILABLE'), { code: 14, details: 'connect ENOENT /run/c.sock' });
    onError('relist', new NodeFailure('RuntimeUnavailable', 'ListPodSandbox: there is no socket', { cause }));
    expect(lines).toEqual([expect.objectContaining({ level: 'debug' })]);
  });

  test('is logged once during retries, until it changes or is resolved', async () => {
    const { lines, onError, clearLogged: settled } = log();
    const fail = (message: string) => onError('relist', new Error(message));
    fail('refused');
    fail('refused');
    fail('broken');
    fail('refused');
    settled();
    fail('refused');
    expect(lines.map(({ msg }) => msg)).toEqual([
      'relist failed: refused',
      'relist failed: broken',
      'relist failed: refused',
    ]);
  });

  test('is fatal only in the agent itself', async () => {
    const { onError, rootFailure } = log();
    onError('store', new Error('full'));
    onError('nodeAgent', new Error('no such pod'));
    await expect(rootFailure).rejects.toMatchObject({
      reason: 'AgentFailed',
      message: 'the node agent failed and is exiting; its pods keep running: no such pod',
    });
  });
});
