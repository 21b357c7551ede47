/** The details of the selected actor in one of the tabs. */
import { earlierDetailOf, type LoadedDetail } from '../../model/details/detail.ts';
import type { Subject } from '../../model/details/headline.ts';
import { ErrorMessage } from '../errorMessage.tsx';
import { Loading } from '../loading.tsx';
import type { Panel } from '../panel.ts';
import { Attempts, Events, Facts, Log, Next, NextEvictions, Problems } from './sections.tsx';

interface DetailsProps extends Panel {
  readonly subject: Subject;
  readonly tab: 'why' | 'events';
}

/** The details, or the failure to load them. */
export function Details({ page, subject, tab }: DetailsProps) {
  const detail = earlierDetailOf(page, subject.actor.path);
  const troubles = [page.detailError.value, page.historyError.value];
  const trouble = troubles.find((each) => each?.path === subject.actor.path)?.message;
  return (
    <>
      {trouble !== undefined && (
        <ErrorMessage
          message="Its details could not be read"
          cause={trouble}
          onRetry={() => {
            page.detailRetries.value += 1;
          }}
        />
      )}
      {subject.actor.tags.includes('broken') && (
        <p class="sec fault">A fault of statelet itself. The pod is rebuilt at the next tick.</p>
      )}
      {detail ? <DetailSections detail={detail} subject={subject} tab={tab} /> : trouble === undefined && <Loading />}
    </>
  );
}

interface DetailSectionsProps {
  readonly detail: LoadedDetail;
  readonly subject: Subject;
  readonly tab: 'why' | 'events';
}

function DetailSections({ detail, subject, tab }: DetailSectionsProps) {
  if (tab === 'events') return <Events detail={detail} isWhole />;
  return (
    <>
      <Problems detail={detail} />
      <Facts actor={subject.actor} />
      <NextEvictions detail={detail} />
      <Attempts detail={detail} actor={subject.actor} />
      <Next detail={detail} actor={subject.isDeleted ? undefined : subject.actor} />
      <Log detail={detail} />
      <Events detail={detail} />
    </>
  );
}
