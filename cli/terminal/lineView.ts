import { systemClock } from '../../base/time/clock.ts';
import { isoTime } from '../../kubernetes/api/values/rfc3339.ts';
import { jsonLine } from '../../node/log/jsonLog.ts';
import { formatTextLine } from '../../node/log/textLog.ts';
import { announceReady, type LiveView, livePods, type Output } from './liveView.ts';
import { changeSentences, type PodUpdate } from './table/changeSentences.ts';

/**
 * Prints each change as a line in the format of the agent's log, so that the changes and the log can share an output.
 */
export function lineView(output: Output, format: 'text' | 'json'): LiveView {
  let commonFields: { readonly simulated?: true } = {};
  const printLine = (msg: string) => {
    const timestamp = isoTime(systemClock.now());
    const record = JSON.stringify({ level: 'info', time: timestamp, ...commonFields, msg });
    output.write(format === 'json' ? jsonLine(record) : formatTextLine(record));
  };
  let stopFollowing = () => {};
  return {
    print: (text) => {
      for (const line of text.trimEnd().split('\n')) printLine(line);
    },
    follow(agent) {
      const describeChange = changeSentences();
      if (agent.node().simulated) commonFields = { simulated: true };
      const report = (change: PodUpdate) => {
        for (const sentence of describeChange(change, systemClock.now())) printLine(sentence);
      };
      for (const livePod of livePods(agent)) report({ uid: livePod.pod.metadata.uid, ...livePod, removed: false });
      const unsubscribe = agent.subscribe(report);
      const stopAnnouncing = announceReady(agent, printLine);
      stopFollowing = () => {
        stopAnnouncing();
        unsubscribe();
      };
    },
    showPage: (url) => printLine(`look at ${commonFields.simulated ? 'the simulated node' : 'it'} on ${url}`),
    close: () => stopFollowing(),
  };
}
