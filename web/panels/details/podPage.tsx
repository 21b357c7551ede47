/** The pod page with the answer at full width, conditions, actors, manifest and status. */
import type { ActorNode } from '../../../show/actors/actorNode.ts';
import { CALL_KIND } from '../../../show/actors/actorNode.ts';
import { rowTime } from '../../../show/actors/actorRowText.ts';
import { categoryOf } from '../../../show/category.ts';
import { kindText } from '../../../show/explain/explainText.ts';
import { nodeAt } from '../../model/actors/tree.ts';
import { type Subject, subjectOf } from '../../model/details/headline.ts';
import { select } from '../../model/navigation/actions.ts';
import { CategoryIcon } from '../../parts/categoryIcon.tsx';
import type { Panel } from '../panel.ts';
import './podPage.css';
import { Details } from './details.tsx';
import { Objects } from './objects.tsx';

export function PodPage(panel: Panel) {
  const subject = subjectOf(panel.page);
  if (!subject) return null;
  return (
    <section class="podpage" aria-label="Pod page">
      <div class="cols">
        <div class="whys">
          <Details {...panel} subject={subject} tab="why" />
        </div>
        <Actors {...panel} subject={subject} />
        <Objects {...panel} subject={subject} isWhole />
      </div>
    </section>
  );
}

function Actors({ page, subject }: Panel & { readonly subject: Subject }) {
  const world = page.world.value;
  const root = world.actors.get(`pod/${subject.pod?.uid}`);
  if (!root) return null;
  const now = page.now.value;
  return (
    <section class="sec acts">
      <h3>Its actors</h3>
      <ul class="actors">
        {withDescendants(nodeAt(world, root)).map(({ actor, depth }) => (
          <li key={actor.path}>
            <button
              type="button"
              class={actor.path === page.selectedPath.value ? `d${depth} sel` : `d${depth}`}
              onClick={() => select(page, actor.path)}
            >
              <CategoryIcon category={categoryOf(actor)} />
              <small>{kindText(actor.kind)}</small>
              <span class="name">{actor.name}</span>
              <span class="sub">{actor.state}</span>
              <span class="dim">{rowTime(actor, now)}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

interface ActorAtDepth {
  readonly actor: ActorNode;
  readonly depth: number;
}

const withDescendants = (actor: ActorNode, depth = 0): ActorAtDepth[] => [
  { actor, depth },
  ...actor.children.filter(({ kind }) => kind !== CALL_KIND).flatMap((child) => withDescendants(child, depth + 1)),
];
