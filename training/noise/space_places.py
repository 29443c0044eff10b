"""Kinds of places where one space is easily left out or put in, beside those of ``spacing`` and ``common_spacing``.

Each kind is a function from a right text to the indices of its places: of a space that must stand (한글 맞춤법 제2항, 제42항), or of a
syllable before which none may. Where the norm leaves the choice there is no place: before an auxiliary verb (제47항)
and between nouns (제49항, 제50항).
"""

import re
from collections.abc import Callable

from training.noise.word_parts import particle_start

SpacePlaces = Callable[[str], list[int]]

_WORD = re.compile("(?<![가-힣])[가-힣]+(?= [가-힣])")
# What particle stands at the end of a word says what the space behind it parts.
_BY_PARTICLE = {
    "object": ("을", "를"),
    "subject": ("이", "가", "께서"),
    "topic": ("은", "는", "도"),
    "place": ("에", "에서", "에게", "한테", "께", "에는", "에서는"),
    "manner": ("으로", "로", "처럼", "보다", "만큼", "부터", "까지", "와", "과"),
    "genitive": ("의",),
}
_PARTICLE_OF = {form: kind for kind, forms in _BY_PARTICLE.items() for form in forms}


def _after_particle(kind: str) -> SpacePlaces:
    def places(text: str) -> list[int]:
        found = []
        for match in _WORD.finditer(text):
            word = match.group()
            start = particle_start(word)
            # 우리가 and 친구를, but no word of which one syllable would be left: it may be another word.
            if start > 1 and _PARTICLE_OF.get(word[start:]) == kind:
                found.append(match.end())
        return found

    return places


def _at(pattern: str) -> SpacePlaces:
    compiled = re.compile(pattern)

    def places(text: str) -> list[int]:
        return [
            match.end() - 1 if match.group().endswith(" ") else match.end()
            for match in compiled.finditer(text)
        ]

    return places


_ENDS = r"(?![가-힣])"
_PARTICLE = rf"(?:에서?[는도의]?|으?로|[을를은는이가의도]|까지|부터|만|쪽[에을이으])?{_ENDS}"
_GOES = (
    "(?:[가갔간갈갑감왔온옵와]|오[는고면세시너려]|나[가갔오왔온]|들[르렀]|다니|다녀|다녔|떠나|떠났|내려|올라)"
)
_ADVERBS = (
    "꼭 빨리 많이 너무 정말 진짜 아주 매우 가장 다시 자주 항상 이미 아직 먼저 조금 천천히 열심히 별로 계속 특히 반드시 갑자기 점점 거의 매일 훨씬 "
    "굉장히 도대체 절대 왜 어떻게 벌써 아마 꽤 더욱 널리 일찍 늦게 여전히 결코 전혀 그냥 오래 함께 같이 직접 바로 아까 늘 푹 싹 쭉 언제나 가끔 "
    "그래서 그런데 그리고 하지만 그러나 그러면 그럼 또는 혹은 즉 만약 비록 만일 그러니까 왜냐하면 따라서"
).replace(" ", "|")
# Verbs that make one word with these: 다시없다, 함께하다, 바로잡다, 오래되다, 곧바로, 더욱더.
_NO_VERB = "(?!(?:더|는|도|씩|간|만|전|없[는이]|잡[고은을아았는]|[하한할함합해했되된될됨됩돼됐])|하지만|나가)"
_OBJECTS = "|".join(
    f"(?:{nouns}) (?={verb})"
    for nouns, verb in (
        ("밥|빵|고기|점심|저녁|아침|라면|간식|과일|약|술", "먹[고는을었으어자지기던]"),
        ("책|신문|소설|글", "읽[고는을었으어자지기던]"),
        ("영화|드라마|텔레비전|뉴스|책|사진", "(?:보[고는러면자지기던]|봤|볼 |본 )"),
        ("음악|노래|라디오|수업|강의", "(?:듣[고는자지기던]|들[었으을어])"),
        ("커피|물|술|우유|주스", "마[시셨신실셔십]"),
        ("버스|택시|지하철|기차|자전거|비행기", "(?:타[고러면는자지기]|탔)"),
        ("옷|신발|가방|선물|빵|책", "(?:사[고러면자지기]|샀)"),
        ("손|얼굴|머리|발|이", "(?:씻[고는었으어자지기]|감[고는았으자])"),
        ("문|창문|뚜껑", "(?:열[고었어면]|닫[고았아으])"),
        ("집|학교|병원|회사|도서관|시장|은행", "(?:가[고는서면자지기]|갔|갈 |간 |왔|오[는고면])"),
        ("관심|시간|인기|관련|필요", "[없있][는다어었을습고지네]"),
    )
)

DROPPED: dict[str, SpacePlaces] = {
    **{f"{kind}_joined": _after_particle(kind) for kind in _BY_PARTICLE},
    # 책상 위, 건물 안: of two syllables or more, since 물속 and 눈앞 are words, as 마음속 is.
    "position_joined": _at(
        rf"(?<![가-힣])(?!마음|가슴|바다|머리)[가-힣]{{2,}}(?<![은는을를의에도로와과]) (?=(?:위|안|밖|앞|뒤|옆|속|밑|아래|근처|사이|주변){_PARTICLE})(?!밖에 (?:없|안|못))"
    ),
    "purpose_joined": _at(
        rf"(?<![가-힣])(?!여러|일부러|더러|이르러|푸르러)[가-힣]+(?:(?<=[으하보사타시우나놀팔주자쉬르기풀치리])러) (?={_GOES})"
    ),
    "adverb_joined": _at(rf"(?<![가-힣])(?:{_ADVERBS}) (?=[가-힣]){_NO_VERB}"),
    "bare_object_joined": _at(rf"(?<![가-힣])(?:{_OBJECTS})"),
    "modifier_joined": _at(
        r"(?<![가-힣])[가-힣]+(?:(?<=[하되있없오가보사주지치리기시])는|했던|하던|있던|되던|(?<=[같높많깊짧작])은) (?=[가-힣]{2})"
        "(?!데|지|걸|게|바|대로|[듯만척체양뻔법][하한할함합해했싶이])"
    ),
    "clause_joined": _at(
        r"(?<![가-힣])[가-힣]+(?:지만|는데|은데|으면|하면|되면|니까|면서|도록|거나|더니|다가|자마자|해서|아서|려고) (?=[가-힣])(?![하한할함합해했되된될됩돼됐보봐봤])"
    ),
    "numeral_joined": _at(
        r"(?<![가-힣])(?:첫|두|세|네|몇|다섯|여섯|일곱|여덟|아홉|열) (?=번째|달[ 에이을]|시간|가지|사람|마리|군데)"
    ),
}

_ENDING = "(?:[다고는며면기니]|도록|ㄴ)"
INSERTED: dict[str, SpacePlaces] = {
    # -아/어지다 and -아/어하다 are always joined (제47항 해설), but not 싶어 하다 or 먹고 싶어 하다.
    "become_split": _at(
        rf"(?<![가-힣])(?!아버|어머|할머)[가-힣]*[아어여해려켜워와](?<!떨어)(?=(?:지{_ENDING}|졌|진다|집니다))"
    ),
    "feeling_split": _at(
        "(?<![가-힣])(?:좋아|싫어|무서워|슬퍼|기뻐|힘들어|어려워|귀찮아|궁금해|부러워|미워|그리워|즐거워|고마워|두려워|아까워)(?=하[다고는며지면기]|한다|합니|했|해[요서]|할 )"
    ),
    "plural_split": _at(
        rf"(?<![가-힣])(?:사람|학생|친구|아이|선생님|국민|여자|남자|시민|회원|아저씨|어른|주민|가족|동물|나무|직원|손님|부모|선수|기자|위원|그|우리|저희|너희)(?=들(?:이|은|을|의|에게|과|도)?{_ENDS})"
    ),
    "measure_split": _at(rf"(?<=[개번명살일달년시원분])(?=(?:씩|쯤|짜리|째){_ENDS}|씩[ ,.])"),
    "one_word_split": _at(
        rf"(?<![가-힣])(?:(?:이|그|저)(?=(?:것|때|곳)(?:[은을도에이의]|까지|부터|만|에서|에는)?{_ENDS})|아무(?=것도)|지난(?=[주달]{_ENDS}|[주달][에의])|오랫(?=동안)"
        r"|우리(?=나라)|또(?=다시)|곧(?=바로)|온(?=종일)|마음(?=속)|[물땅산꿈](?=속에)|머릿(?=속)|눈(?=앞에)|창(?=밖)|옛(?=날)|새(?=해)|첫(?=사랑|눈)|마찬(?=가지)|띄어(?=쓰기)|어느(?=새)|한(?=동안))"
    ),
    "negative_split": _at(
        r"(?<=[가-힣]지 )못(?=[하한할함합해했])|(?<![가-힣])안(?=타깝|쓰럽)|(?<![가-힣])(?:잘|못)(?=생[겼긴])|(?<![가-힣])못(?=지않)"
    ),
    "final_split": _at(
        "(?<=[있없했겠았었였됐갔왔])(?=습니[다까])|(?<=[가-힣]{2})(?=네요|군요|잖아|거든|더라|세요|십시오)"
    ),
}
