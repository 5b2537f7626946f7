import { conversionWebhook, resourceType } from 'kedge';
import { type Team, Teams } from '../custom-resource/team.ts';

/** The first version of teams: the lead, and separately the other members. */
interface TeamV1alpha1 extends Omit<Team, 'spec'> {
  readonly spec?: { readonly lead?: string; readonly others?: readonly string[] };
}

export const TeamsV1alpha1 = resourceType<TeamV1alpha1>({ ...Teams, version: 'v1alpha1' });

export const teamConversion = conversionWebhook({
  hub: Teams,
  spokes: [
    {
      version: TeamsV1alpha1,
      toHub({ spec: { lead, others = [] } = {}, ...rest }) {
        return { ...rest, spec: { members: lead === undefined ? others : [lead, ...others] } };
      },
      fromHub({ spec, ...rest }) {
        const [lead, ...others] = spec?.members ?? [];
        return { ...rest, spec: lead === undefined ? {} : { lead, others } };
      },
    },
  ],
});
