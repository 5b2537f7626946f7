import { mutatingWebhook, validatingWebhook } from 'kedge';
import { Teams } from '../custom-resource/team.ts';
import { teamConversion } from './team-conversion.ts';

const admins = 'system:masters';

/** Makes the creator of a team without members its first member. */
export const firstMember = mutatingWebhook({
  for: Teams,
  mutate({ operation, object, userInfo }) {
    if (operation !== 'CREATE' || (object.spec?.members ?? []).length > 0) return;
    return { ...object, spec: { ...object.spec, members: [userInfo.username] } };
  },
});

/** Allows only members and administrators to change or delete a team. */
export const membersOnly = validatingWebhook({
  for: Teams,
  validate({ operation, oldObject, object, userInfo }, { warn }) {
    if (object?.spec?.members?.length === 1) warn('a team of one has nobody to take over');
    if (operation === 'CREATE' || userInfo.groups.includes(admins)) return undefined;
    const members = oldObject?.spec?.members ?? [];
    return members.includes(userInfo.username) ? undefined : `${userInfo.username} is no member of the team`;
  },
});

/** The webhooks by the paths used in webhooks.yaml and crd.yaml. */
export const teamWebhooks = {
  '/first-member': firstMember,
  '/members-only': membersOnly,
  '/convert': teamConversion,
};
