import type { Builder } from '@grafana/grafana-foundation-sdk/cog';
import type { DashboardLink, DashboardLinkBuilder } from '@grafana/grafana-foundation-sdk/dashboard';

/** The builder puts every link into a menu, where nobody looks. @returns the same link, in sight */
export function shown(link: DashboardLinkBuilder): Builder<DashboardLink> {
  return {
    build: () => {
      const built = link.build();
      delete built.placement;
      return built;
    },
  };
}
