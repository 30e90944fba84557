#include "results/record/attack_file.hpp"

#include "results/record/seal.hpp"
#include "results/table/table.hpp"
#include "results/write/render.hpp"
#include "tests/matchers.hpp"
#include "tests/results/record/attack_sample.hpp"
#include "tests/results/recorded_run.hpp"
#include "tests/results/samples.hpp"

namespace fedarena::results {
namespace {

class AttackFile : public testing::Test {
 protected:
  const Scratch scratch_;
  const RunDirectory run_ = RunDirectory::create(scratch_ / "a", "", "{}", finished("fedavg", 3, 0.5));
  const MembershipAttacks attacks_ = sample_attacks(run_);
};

TEST_F(AttackFile, ReadsWhatItWrote) {
  EXPECT_EQ(read_attacks(run_.path()), std::nullopt);
  write_attacks(run_, attacks_);
  EXPECT_EQ(read_attacks(run_.path()), attacks_);
}

// 12 members a client against the 12 non-members of its one class.
TEST_F(AttackFile, MeasuresClientsAgainstOthersOfTheirClasses) {
  const std::vector<ClientSeparation>& clients = attacks_.attacks[0].clients;
  ASSERT_EQ(clients.size(), 2U);
  int above = 0;
  for (int member = 0; member < 12; ++member) {
    for (int other = 0; other < 24; other += 2) above += member > other - 6.5;
  }
  EXPECT_EQ(clients[0], (ClientSeparation{.client = 0, .members = 12, .auc = above / 144.0}));
  EXPECT_EQ(attacks_.attacks[1].separation.auc, 0.75);
}

// Of the 12 non-members of a client's class, those that are seen as it sees its own.
TEST_F(AttackFile, MeasuresClientsAgainstWhatIsSeenAsTheirs) {
  MembershipAttacks attacks = attacks_;
  std::int64_t place = 0;
  for (ScoredExample& other : attacks.non_member_examples) other.client = place++ < 20 ? 0 : 1;
  for (MembershipAttack& attack : attacks.attacks) ASSERT_TRUE(measure(attack, attacks));
  int above = 0;
  for (int member = 0; member < 12; ++member) {
    for (int other = 0; other < 20; other += 2) above += member > other - 6.5;
  }
  EXPECT_EQ(attacks.attacks[0].clients,
            (std::vector<ClientSeparation>{{.client = 0, .members = 12, .auc = above / 120.0}}));
  EXPECT_EQ(attacks.attacks[0].separation, attacks_.attacks[0].separation);
  write_attacks(run_, attacks);
  EXPECT_EQ(read_attacks(run_.path()), attacks);
}

TEST_F(AttackFile, AnyEditIsRefused) {
  const std::string text = to_json_text(attacks_);
  for (std::size_t at = 0; at < text.size(); at += 41) {
    std::string edited = text;
    edited[at] = edited[at] == '1' ? '2' : '1';
    EXPECT_THROW(parse_attacks(edited, "attack.json"), Error) << "byte " << at;
  }
}

TEST_F(AttackFile, HoldsNothingThatContradictsItself) {
  const auto refused = [&](auto change) {
    MembershipAttacks attacks = attacks_;
    change(attacks);
    EXPECT_THROW(to_json_text(attacks), Bug);
  };
  refused([](MembershipAttacks& attacks) { attacks.member_accuracy = 0.88; });  // of 24
  refused([](MembershipAttacks& attacks) { attacks.member_examples[1].position = 0; });
  refused([](MembershipAttacks& attacks) { attacks.non_member_examples[1].position = 0; });
  refused(
      [](MembershipAttacks& attacks) { attacks.non_members = kLeftOutExamples; });  // members are among them
}

TEST_F(AttackFile, OfAnotherRunIsRefused) {
  const auto other = RunDirectory::create(scratch_ / "b", "", "{}", finished("fedavg", 4, 0.5));
  write_attacks(other, attacks_);
  expect_refused("b/attack.json: is about another run", [&] { read_attacks(other.path()); });
}

TEST_F(AttackFile, GivesATableItsMetric) {
  write_attacks(run_, attacks_);
  const auto auc = [&](const char* metric) {
    return make_table(find_runs(std::vector{scratch_ / "a"}), parse_round_metric(metric));
  };
  const Table table = auc("attack-auc:loss");
  EXPECT_EQ(table.rows[0].result->spread.mean, attacks_.attacks[0].separation.auc);
  EXPECT_EQ(table.rows[0].result->better, Better::kLess);
  EXPECT_FALSE(table.rows[0].result->share);
  EXPECT_THAT(to_markdown(reader_table(table)), HasSubstr("| loss, AUC |"));
  EXPECT_THAT(to_markdown(reader_table(table)), Not(ContainsRegex("loss, AUC .*loss, AUC")));
  EXPECT_THAT(auc("attack-tpr-1:rmia").rows[0].result->share, true);
  EXPECT_THAT(auc("attack-auc:learned").notes,
              Contains("fedavg: attack-auc:learned has no value, because seed 3 has no attack with the score "
                       "learned; fedarena attack makes one"));
  expect_refused("attacks are on the last model alone",
                 [] { parse_round_metric("attack-auc:loss@round=1"); });
  expect_refused("attack-auc:SCORE", [] { parse_round_metric("attack-auc"); });
}

TEST_F(AttackFile, ThatIsDamagedIsNotedUnderATableAndHidesNoRow) {
  put(scratch_ / "a/attack.json", "{");
  const std::vector<FoundRun> runs = find_runs(std::vector{scratch_ / "a"});
  const Table table = make_table(runs);
  EXPECT_EQ(table.rows.size(), 1U);
  EXPECT_THAT(table.notes, Contains(has_all("attacks on ", "a are not shown: attack.json")));
}

TEST_F(AttackFile, IsNotPartOfTheSeal) {
  const Seal before = current_seal(scratch_ / "a");
  write_attacks(run_, attacks_);
  EXPECT_EQ(current_seal(scratch_ / "a"), before);
}

TEST_F(AttackFile, VerifyComputesEveryNumberAgain) {
  const RecordedRun run(scratch_ / "c", {.policy = "none", .label = "fedavg", .seed = 3});
  const MembershipAttacks attacks = sample_attacks(run.open());
  const auto differences_after = [&](const auto& edit) {
    MembershipAttacks edited = attacks;
    edit(edited.attacks[0]);
    write_attacks(run.open(), edited);
    return run.differences();
  };
  EXPECT_THAT(differences_after([](auto&) {}), IsEmpty());
  EXPECT_THAT(differences_after([](auto& attack) { attack.separation.auc = 0.5; }),
              ElementsAre(HasSubstr("attack.json: loss auc is 0.5;")));
  EXPECT_THAT(differences_after([](auto& attack) { attack.members[3] = 100; }), SizeIs(testing::Ge(4U)));
  EXPECT_THAT(differences_after([](auto& attack) { attack.clients.pop_back(); }),
              ElementsAre(HasSubstr("attack.json: loss clients is")));
}

TEST_F(AttackFile, VerifyNoticesViewsThatClientsDoNotHave) {
  const RecordedRun run(scratch_ / "c", {.policy = "none", .label = "fedavg", .seed = 3});
  MembershipAttacks attacks = sample_attacks(run.open());
  for (ScoredExample& other : attacks.non_member_examples) other.client = 0;
  for (MembershipAttack& attack : attacks.attacks) ASSERT_TRUE(measure(attack, attacks));
  write_attacks(run.open(), attacks);
  EXPECT_THAT(run.differences(),
              ElementsAre("attack.json: clients of non-members is some; recomputed: none"));
}

TEST_F(AttackFile, VerifyNoticesScoresWithoutTheReferencesThatTheyAsk) {
  const RecordedRun run(scratch_ / "c", {.policy = "none", .label = "fedavg", .seed = 3});
  const auto differences_of = [&](const std::string& score, std::size_t references) {
    MembershipAttacks edited = sample_attacks(run.open());
    edited.attacks[1].score = score;
    edited.attacks[1].references.assign(references, "fedavg-seed-4");
    write_attacks(run.open(), edited);
    return run.differences();
  };
  EXPECT_THAT(differences_of("lira", 8), IsEmpty());
  EXPECT_THAT(differences_of("lira", 7),
              ElementsAre("attack.json: lira references is 7; recomputed: at least 8"));
  EXPECT_THAT(differences_of("rmia", 0),
              ElementsAre("attack.json: rmia references is 0; recomputed: at least 1"));
  EXPECT_THAT(differences_of("learned", 1),
              ElementsAre("attack.json: learned references is 1; recomputed: none"));
  EXPECT_THAT(differences_of("guess", 0),
              ElementsAre("attack.json: score is guess; recomputed: one that attacks know"));
}

}  // namespace
}  // namespace fedarena::results
