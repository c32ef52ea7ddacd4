import type { SchemaChange } from "./schema-change.ts"

/** Rights to open the console of a machine. Released: never changed. */
export const m0029ConsoleTickets: SchemaChange = {
  name: "0029-console-tickets",
  sqlite: [
    "create table console_tickets (hash text not null primary key, caller_id text not null, user_id text not null, range_id text not null, vmid integer not null, origin text null, expires_at bigint not null, constraint console_tickets_caller_id_foreign foreign key (caller_id) references users (id) on delete cascade, constraint console_tickets_user_id_foreign foreign key (user_id) references users (id) on delete cascade, constraint console_tickets_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade)",
    "create index console_tickets_caller_id_index on console_tickets (caller_id)",
    "create index console_tickets_user_id_index on console_tickets (user_id)",
    "create index console_tickets_range_id_index on console_tickets (range_id)",
  ],
  postgresql: [
    "create table console_tickets (hash varchar(64) not null, caller_id varchar(255) not null, user_id varchar(255) not null, range_id varchar(255) not null, vmid int not null, origin text null, expires_at bigint not null, primary key (hash))",
    "alter table console_tickets add constraint console_tickets_caller_id_foreign foreign key (caller_id) references users (id) on delete cascade",
    "alter table console_tickets add constraint console_tickets_user_id_foreign foreign key (user_id) references users (id) on delete cascade",
    "alter table console_tickets add constraint console_tickets_range_id_foreign foreign key (range_id) references ranges (id) on delete cascade",
  ],
}
